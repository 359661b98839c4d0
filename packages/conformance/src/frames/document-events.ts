import type { ProtocolName } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Frame } from "./frame-queue.ts";

const messages = ["message_start", "message_update", "message_end"];
const turns = ["agent_start", "agent_end", "turn_start", "turn_end", ...messages];
const tools = ["tool_execution_start", "tool_execution_update", "tool_execution_end"];
const retries = ["auto_retry_start", "auto_retry_end"];
const compactions = ["auto_compaction_start", "auto_compaction_end"];
const dialogs = ["extension_ui_request", "extension_error"];
const subagents = [
  "subagent_start",
  "subagent_end",
  "subagent_verification_start",
  "subagent_verification_command_start",
  "subagent_verification_command_end",
  "subagent_verification_end",
];
const budgets = ["budget_warning", "budget_exceeded"];
const rules = ["ttsr_triggered", "todo_reminder"];

/** The types of frames that each document names, besides `response`; clients ignore all others. */
const documented: Readonly<Record<ProtocolName, ReadonlySet<string>>> = {
  pi: new Set([...turns, ...tools, ...retries, ...compactions, ...dialogs]),
  "pi-1": new Set([
    ...turns,
    ...tools,
    ...retries,
    ...dialogs,
    "agent_settled",
    "compaction_start",
    "compaction_end",
    "queue_update",
    "bash_execution_update",
  ]),
  pisces: new Set([
    ...turns,
    ...tools,
    ...retries,
    ...compactions,
    ...dialogs,
    ...subagents,
    ...budgets,
    ...rules,
  ]),
  "oh-my-pi-18": new Set([
    ...turns,
    ...tools,
    ...retries,
    ...compactions,
    ...dialogs,
    "ready",
    "prompt_result",
    "session_settled",
  ]),
  "oh-my-pi": new Set([...turns, ...tools, ...retries, ...compactions, "hook_error"]),
  "co-mono": new Set([
    ...turns,
    "tool_execution_start",
    "tool_execution_end",
    "compaction",
    "error",
  ]),
  "pi-rust": new Set([
    "agent_start",
    "agent_end",
    "text_delta",
    "thinking_delta",
    "tool_start",
    "tool_update",
    "tool_end",
    ...retries,
    ...compactions,
  ]),
};

/** Message roles that the documents name, or that they leave to the source code of the original. */
const roles: ReadonlySet<unknown> = new Set([
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
]);

/** Whether a dialect's document knows this event and the role of the message in it. */
export function isDocumentedEvent(dialect: string, { type, message }: Frame): boolean {
  const types: ReadonlySet<string> | undefined = Reflect.get(documented, dialect);
  if (types?.has(String(type)) !== true) return false;
  return !isJsonObject(message) || message.role === undefined || roles.has(message.role);
}
