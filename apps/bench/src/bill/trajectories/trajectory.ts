import { type ScriptedToolCall, type Turn, toolCall } from "@tau-agent/ai/testing";
import type { BillSession } from "../bill-session.ts";
import { type SessionNeeds, sourceFile } from "../project.ts";
import { answer, prose, step } from "../script.ts";

/** Work for a host; the same for all hosts. */
export interface Trajectory {
  readonly name: string;
  readonly what: string;
  /** Whether only Tau can do it; by default, the peer can too. */
  readonly isOnlyTaus?: true;
  readonly needs?: SessionNeeds;
  play(session: BillSession): Promise<void>;
}

export const read = (number: number, limit?: number): ScriptedToolCall =>
  toolCall("read", { path: sourceFile(number), ...(limit !== undefined && { limit }) });

export const bash = (command: string): ScriptedToolCall =>
  toolCall("bash", { command, timeout: 3_000 });

/** Changes a line of a file that no other turn changes. */
const edit = (number: number, turn: number): ScriptedToolCall => {
  const line = turn % 190;
  const oldText = `export const value${line} = `;
  return toolCall("edit", {
    path: sourceFile(number),
    edits: [{ oldText, newText: `// ${prose(60, turn)}\n${oldText}` }],
  });
};

/** Prints a progress line, the same warning many times, and a result. */
const noisy = (turn: number): ScriptedToolCall =>
  bash(
    `for i in $(seq 60); do printf 'building %d of 60\\r' $i; done; echo; for i in $(seq 120); do echo "warning: option is deprecated"; done; echo "run ${turn}: 3 failed"`,
  );

/** The turns of a bug fix: reading, running, changing, and reading again. */
export function work(count: number, from = 0): Turn[] {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    const file = Math.floor(at / 4);
    switch (at % 4) {
      case 0:
        return step(at, read(file));
      case 1:
        return step(at, at % 8 === 1 ? noisy(at) : bash(`grep -n "test case" ${sourceFile(file)}`));
      case 2:
        return step(at, edit(file, at));
      default:
        return step(at, bash(`head -c 4000 ${sourceFile(file + 1)}`));
    }
  });
}

/** Sends prompts of ten turns each; the last turn of each answers. */
export async function workInPrompts(session: BillSession, turns: number, from = 0): Promise<void> {
  for (let at = from; at < from + turns; at += 10) {
    await session.prompt(`${prose(200, at)} Go on with part ${at}.`, [...work(9, at), answer(at)]);
  }
}
