import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { SessionLog } from "./session-log.ts";

const LOST_TEXT =
  "No result provided: the host ended before this call did. What it was doing may be done in part.";

/**
 * Gives the calls that a killed host was carrying out a result that says so: a client would show them
 * as running for ever, and what their subagents used would be on nobody's bill.
 */
export async function answerOpenCalls(log: SessionLog): Promise<void> {
  for (const { id, name } of openCalls(log)) {
    const { path } = log;
    const lost =
      name === "task" && path !== undefined
        ? await import("../subagents/lost-task.ts")
            .then(({ readLostTask }) => readLostTask(path, log.tree.entries))
            .catch(() => undefined)
        : undefined;
    log.appendLater({
      type: "message",
      message: {
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content: [{ type: "text", text: [LOST_TEXT, lost?.text].filter(Boolean).join("\n\n") }],
        details: { ...lost?.details, interrupted: true },
        isError: true,
        timestamp: Date.now(),
      },
    });
  }
}

/** The calls of the last reply that nothing follows but some of their results. */
function openCalls(log: SessionLog): ToolCall[] {
  const answered = new Set<string>();
  for (const entry of log.tree.ancestors()) {
    const known = entry as KnownSessionEntry;
    if (known.type === "compaction" || known.type === "branch_summary") return [];
    if (known.type !== "message") continue;
    const { message } = known;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else if (message.role === "assistant") {
      if (message.stopReason !== "toolUse") return [];
      const calls = message.content.filter((block) => block.type === "toolCall");
      return calls.filter(({ id }) => !answered.has(id));
    } else if (message.role !== "bashExecution") return [];
  }
  return [];
}
