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
  /** Reads what a `task` call had done, if that is not in files. */
  readonly readLost?: ((call: ToolCall) => Promise<LostTask>) | undefined;
  /** Leaves calls that wait for an approval open: the person is asked again. */
  readonly keepsQuestions?: boolean | undefined;
}

/**
 * Adds results to calls that a killed host was carrying out, saying that it ended. Otherwise clients would show
 * these calls as running forever, and the usage of their subagents would not be counted.
 *
 * Calls that wait for an approval are left open if the session continues with them.
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
    // A person was being asked about this call or an earlier one when the host ended, so it is
    // decided when the session continues.
    if (waiting.has(call.id)) continue;
    const lost = call.name === "task" ? await read?.(call).catch(() => undefined) : undefined;
    const text = [LOST_TEXT, lost?.text].filter(Boolean).join("\n\n");
    log.appendLater({ type: "message", message: noResult(call, text, lost?.details) });
  }
}

/**
 * Does the same for a log that continues from a point between calls and their results, which
 * another log has or will get.
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

/** The calls of the last reply that have no result, if only results follow that reply. */
function openCalls(log: SessionLog): readonly ToolCall[] {
  return lastCalls(log)?.open ?? [];
}
