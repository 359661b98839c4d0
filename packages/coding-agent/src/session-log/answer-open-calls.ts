import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { ToolCall, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import type { SessionLog } from "./session-log.ts";

const LOST_TEXT =
  "No result provided: the host ended before this call did. What it was doing may be done in part.";
const LEFT_TEXT =
  "No result provided: the conversation goes on from before this call had one. What it was doing may be done.";

/**
 * Gives the calls that a killed host was carrying out a result that says so. Otherwise clients
 * would show them as running forever, and the use of their subagents would not be counted.
 *
 * @param writtenIn - the file the host wrote, if the log is a copy of it
 */
export async function answerOpenCalls(log: SessionLog, writtenIn = log.path): Promise<void> {
  for (const call of openCalls(log)) {
    const lost =
      call.name === "task" && writtenIn !== undefined
        ? await import("./lost-task.ts")
            .then(({ readLostTask }) => readLostTask(writtenIn, log.tree.entries))
            .catch(() => undefined)
        : undefined;
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

/** The results that {@link answerLeftCalls} gives. */
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
function openCalls(log: SessionLog): ToolCall[] {
  const answered = new Set<string>();
  for (const entry of log.tree.ancestors()) {
    const known = entry as KnownSessionEntry;
    if (known.type === "compaction" || known.type === "branch_summary") return [];
    if (known.type !== "message") continue;
    const { message } = known;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else if (message.role === "assistant") {
      // Calls of a failed or aborted reply are never read again.
      if (message.stopReason === "error" || message.stopReason === "aborted") return [];
      const calls = message.content.filter((block) => block.type === "toolCall");
      return calls.filter(({ id }) => !answered.has(id));
    } else if (message.role !== "bashExecution") return [];
  }
  return [];
}
