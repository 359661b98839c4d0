import type { ToolCall, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { lastCalls } from "./last-calls.ts";
import type { LostTask } from "./lost-task.ts";
import { openQuestions } from "./open-questions.ts";
import type { SessionLog } from "./session-log.ts";

const LOST_TEXT =
  "No result provided: the host ended before this call did. What it was doing may be done in part.";
const LEFT_TEXT =
  "No result provided: the conversation goes on from before this call had one. What it was doing may be done.";

export interface OpenCallOptions {
  /** The file the host wrote, if the log is a copy of it. */
  readonly writtenIn?: string | undefined;
  /** Reads what a call of `task` had done, where it is not in files. */
  readonly readLost?: ((call: ToolCall) => Promise<LostTask>) | undefined;
  /** Leaves calls open that wait for an approval: they are asked about again. */
  readonly keepsQuestions?: boolean | undefined;
}

/**
 * Gives the calls that a killed host was carrying out a result that says so. Otherwise clients
 * would show them as running forever, and the use of their subagents would not be counted.
 *
 * Calls that wait for an approval are left open if the session goes on with them.
 */
export async function answerOpenCalls(
  log: SessionLog,
  { writtenIn = log.path, readLost, keepsQuestions = false }: OpenCallOptions = {},
): Promise<void> {
  const read =
    readLost ??
    (writtenIn === undefined
      ? undefined
      : async () => {
          const { readLostTask } = await import("./lost-task.ts");
          return readLostTask(writtenIn, log.tree.entries);
        });
  const waiting = new Set(keepsQuestions ? openQuestions(log)?.calls.map(({ id }) => id) : []);
  for (const call of openCalls(log)) {
    // Asked about when the host ended, or after such a call: decided when the session goes on.
    if (waiting.has(call.id)) continue;
    const lost = call.name === "task" ? await read?.(call).catch(() => undefined) : undefined;
    const text = [LOST_TEXT, lost?.text].filter(Boolean).join("\n\n");
    log.appendLater({ type: "message", message: noResult(call, text, lost?.details) });
  }
}

/**
 * Does the same for a log that continues from between calls and the results they have, or will get,
 * elsewhere.
 */
export function answerLeftCalls(log: SessionLog): void {
  for (const message of resultsOfLeftCalls(log)) log.appendLater({ type: "message", message });
}

export function resultsOfLeftCalls(log: SessionLog): ToolResultMessage[] {
  return openCalls(log).map((call) => noResult(call, LEFT_TEXT));
}

function noResult({ id, name }: ToolCall, text: string, details?: object): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text }],
    details: { ...details, interrupted: true },
    isError: true,
    timestamp: Date.now(),
  };
}

/** The calls of the last reply, if nothing follows but some of their results. */
function openCalls(log: SessionLog): readonly ToolCall[] {
  return lastCalls(log)?.open ?? [];
}
