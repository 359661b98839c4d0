import { toolCall, type ScriptedToolCall, type Turn } from "@tau-agent/ai/testing";
import type { BillSession, SessionNeeds } from "../bill-session.ts";
import { sourceFile } from "../project.ts";
import { answer, prose, step } from "../script.ts";

/** Some work for a host, the same for all. */
export interface Trajectory {
  readonly name: string;
  readonly what: string;
  /** Whether the peer can do it, too; default yes. */
  readonly isOnlyTaus?: true;
  readonly needs?: SessionNeeds;
  play(session: BillSession): Promise<void>;
}

export const read = (number: number): ScriptedToolCall =>
  toolCall("read", { path: sourceFile(number) });

export const bash = (command: string): ScriptedToolCall =>
  toolCall("bash", { command, timeout: 3_000 });

/** Changes a line of a file that no other turn changes. */
const edit = (number: number, turn: number): ScriptedToolCall => {
  const line = turn % 80;
  const oldText = `export const value${line} = `;
  return toolCall("edit", {
    path: sourceFile(number),
    edits: [{ oldText, newText: `// ${prose(60, turn)}\n${oldText}` }],
  });
};

/** Turns of a fix: reading, running, changing. */
export function work(count: number, from = 0): Turn[] {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    const file = Math.floor(at / 4);
    switch (at % 4) {
      case 0:
        return step(at, read(file));
      case 1:
        return step(at, bash(`grep -n "value[0-9]*7 " ${sourceFile(file)}; wc -l src/*.ts | tail -3`));
      case 2:
        return step(at, edit(file, at));
      default:
        return step(at, bash(`head -c 2400 ${sourceFile(file + 1)}; echo; echo "run ${at}: 3 failed"`));
    }
  });
}

/** Prompts of ten turns each, the last of which answers. */
export async function workInPrompts(session: BillSession, turns: number, from = 0): Promise<void> {
  for (let at = from; at < from + turns; at += 10) {
    await session.prompt(`${prose(200, at)} Go on with part ${at}.`, [...work(9, at), answer(at)]);
  }
}
