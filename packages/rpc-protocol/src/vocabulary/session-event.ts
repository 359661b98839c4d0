import * as z from "zod/mini";
import { AgentEvent } from "./agent-event.ts";
import { budgetEvents } from "./budget.ts";
import { jobEvents } from "./job.ts";
import { McpStatus } from "./mcp.ts";
import { ThinkingLevel } from "./model.ts";
import { compacted } from "./session-entry.ts";
import { StreamRuleInfo } from "./stream-rule.ts";
import { subagentEvents } from "./subagent-event.ts";
import { todoEvents } from "./todo.ts";
import { workspaceEvents } from "./workspace-state.ts";

/** The result of a compaction. */
export const CompactionResult = z.object(compacted);
export type CompactionResult = z.infer<typeof CompactionResult>;

const compactionEnd = {
  /** The summary and what it replaces; null if the compaction failed or was stopped. */
  result: z.nullable(CompactionResult),
  /** Whether it was stopped early. */
  aborted: z.boolean(),
  /** Whether the run continues automatically. */
  willRetry: z.boolean(),
  /** The error message. */
  errorMessage: z.optional(z.string()),
};

const CompactionReason = z.enum(["manual", "threshold", "overflow"]);
const AutomaticReason = z.enum(["threshold", "overflow"]);

/** A prompt that waits in a queue. */
export const QueueItem = z.object({
  /** The id for `cancel_queued`. */
  itemId: z.string(),
  /** Whether it interrupts the run, follows its end, or joins its next turn. */
  kind: z.enum(["steer", "followUp", "queue"]),
  /** The text of the message. */
  text: z.string(),
  /** The id of the prompt. */
  promptId: z.string(),
});
export type QueueItem = z.infer<typeof QueueItem>;

/** How an accepted prompt ended. */
/** What paused a prompt: its own limit of replies or time, or the session's limit. */
export const PausedBy = z.enum(["turns", "ms", "max_turns"]);
export type PausedBy = z.infer<typeof PausedBy>;

export const PromptStatus = z.enum(["completed", "aborted", "error", "handled", "paused"]);
export type PromptStatus = z.infer<typeof PromptStatus>;

/** Whether the answer to a prompt with an output schema fits the schema. */
export const OutputStatus = z.enum(["valid", "invalid", "absent"]);
export type OutputStatus = z.infer<typeof OutputStatus>;

/** Additional members of `prompt_result` for a prompt with an output schema. */
export const outputResult = {
  /** The answer, if it fits the schema. */
  output: z.optional(z.unknown()),
  /** Whether the answer fits its schema; `absent` if the run failed or was aborted. */
  outputStatus: z.optional(OutputStatus),
  /** The number of answers that the model gave. */
  outputAttempts: z.optional(z.number()),
  /** The last answer, as the model wrote it. */
  text: z.optional(z.string()),
};

/** An event of a session that does not come from its agent loop. */
export const SessionOnlyEvent = z.discriminatedUnion("type", [
  /** All work is done: nothing is running, queued, retrying or compacting. */
  z.object({
    type: z.literal("agent_settled"),
    /** Whether it was stopped early. */
    aborted: z.boolean(),
  }),
  /** How an accepted prompt ended; sent once per prompt. */
  z.object({
    type: z.literal("prompt_result"),
    /** The id of the prompt. */
    id: z.optional(z.union([z.string(), z.number()])),
    /** How it ended. */
    status: PromptStatus,
    /** The error message if `status` is `error`. */
    error: z.optional(z.string()),
    /** Why `status` is `error`, or `budget_exceeded` if an exhausted budget stopped the run. */
    code: z.optional(z.string()),
    /** What paused it if `status` is `paused`; it is continued by `prompt` with `resume`. */
    pausedBy: z.optional(PausedBy),
    ...outputResult,
  }),
  /** The queued messages have changed. */
  z.object({
    type: z.literal("queue_update"),
    /** Texts of queued steering messages, oldest first. */
    steering: z.array(z.string()),
    /** Texts of queued follow-up messages, oldest first. */
    followUp: z.array(z.string()),
    /** The queued prompts, in the order of delivery within each queue; sent after `initialize`. */
    items: z.optional(z.array(QueueItem)),
  }),
  /** An automatic compaction begins. */
  z.object({
    type: z.literal("auto_compaction_start"),
    /** Whether the context window was nearly full or overflowed. */
    reason: AutomaticReason,
  }),
  /** An automatic compaction has ended. */
  z.object({
    type: z.literal("auto_compaction_end"),
    /** Whether the context window was nearly full or overflowed; sent after `initialize`. */
    reason: z.optional(AutomaticReason),
    ...compactionEnd,
  }),
  /** A compaction requested by the client begins; before `initialize` also an automatic one. */
  z.object({
    type: z.literal("compaction_start"),
    /** Whether the client asked for it, the window was nearly full, or a request too large. */
    reason: CompactionReason,
  }),
  /** A compaction requested by the client has ended; before `initialize` also an automatic one. */
  z.object({
    type: z.literal("compaction_end"),
    /** Whether the client asked for it, the window was nearly full, or a request too large. */
    reason: CompactionReason,
    ...compactionEnd,
  }),
  /** A failed request will be sent again after `delayMs`. */
  z.object({
    type: z.literal("auto_retry_start"),
    /** The number of the attempt, starting at 1. */
    attempt: z.number(),
    /** The maximum number of attempts. */
    maxAttempts: z.number(),
    /** Milliseconds until the attempt. */
    delayMs: z.number(),
    /** The error message. */
    errorMessage: z.string(),
  }),
  /** Retrying has ended. */
  z.object({
    type: z.literal("auto_retry_end"),
    /** Whether an attempt succeeded. */
    success: z.boolean(),
    /** The number of attempts made. */
    attempt: z.number(),
    /** The error of the last attempt. */
    finalError: z.optional(z.string()),
  }),
  /** The model failed and its retries are exhausted: another model answers from now on. */
  z.object({
    type: z.literal("model_fallback"),
    /** The model that failed, as `provider/id`. */
    from: z.string(),
    /** The model that answers from now on. */
    to: z.string(),
    /** Why the first model failed. */
    reason: z.enum(["overloaded", "rate_limited", "network", "timeout", "quota", "auth"]),
  }),
  /** The output limit truncated a reply, which is now continued; at most once per prompt. */
  z.object({
    type: z.literal("auto_continue"),
    /** Why the run continues. */
    reason: z.literal("length"),
  }),
  /** The session's store has become slow, or has recovered; events wait until the store has acknowledged them. */
  z.object({
    type: z.literal("session_store_status"),
    /** Whether a write is taking long, or has finally succeeded. */
    status: z.enum(["waiting", "ok"]),
  }),
  /** This host may no longer write the session; further prompts are refused. */
  z.object({
    type: z.literal("session_lost"),
    /** Why: another host has acquired the lease. */
    reason: z.literal("lease_lost"),
  }),
  /** The session was renamed. */
  z.object({
    type: z.literal("session_info_changed"),
    /** The new name; absent if the session has none. */
    name: z.optional(z.string()),
  }),
  /** An MCP server was connected, lost, or failed. */
  z.object({
    type: z.literal("mcp_server_status"),
    /** The name of the server. */
    server: z.string(),
    /** The status. */
    status: McpStatus,
    /** The reason if it does not work. */
    error: z.optional(z.string()),
  }),
  /** The user has finished an MCP server's interaction on a page; the answer to the host request was sent earlier. */
  z.object({
    type: z.literal("mcp_elicitation_complete"),
    /** The name of the server. */
    server: z.string(),
    /** The `elicitationId` of the host request. */
    elicitationId: z.string(),
  }),
  /** The thinking level was changed. */
  z.object({
    type: z.literal("thinking_level_changed"),
    /** The thinking level. */
    level: ThinkingLevel,
  }),
  /** New output of a `bash` command that asked to stream it. */
  z.object({
    type: z.literal("bash_execution_update"),
    /** The id of the command. */
    id: z.optional(z.union([z.string(), z.number()])),
    /** The new piece of text. */
    delta: z.string(),
  }),
  /** An extension's handler threw an error. */
  z.object({
    type: z.literal("extension_error"),
    /** The file of the extension. */
    extensionPath: z.string(),
    /** The event whose handler threw. */
    event: z.string(),
    /** The error message. */
    error: z.string(),
  }),
  /** Stream rules matched the reply; it is stopped and retried with the rules as a reminder. */
  z.object({
    type: z.literal("ttsr_triggered"),
    /** The rules that matched. */
    rules: z.array(StreamRuleInfo),
  }),
  ...subagentEvents,
  ...budgetEvents,
  ...todoEvents,
  ...jobEvents,
  ...workspaceEvents,
  /** A problem with files or settings that stopped nothing; sent after `initialize`. */
  z.object({
    type: z.literal("diagnostic"),
    /** Whether something does not work, or only works differently. */
    severity: z.enum(["warning", "error"]),
    /** The error code. */
    code: z.optional(z.string()),
    /** A description of the problem. */
    message: z.string(),
    /** The affected file. */
    path: z.optional(z.string()),
  }),
  /** A problem that belongs to no single command, such as a full disk during a run. */
  z.object({
    type: z.literal("error"),
    /** The error message. */
    error: z.string(),
    /** The error code. */
    code: z.optional(z.string()),
  }),
]);
export type SessionOnlyEvent = z.infer<typeof SessionOnlyEvent>;

/** Any event of a session. */
export const SessionEvent = z.union([AgentEvent, SessionOnlyEvent]);
export type SessionEvent = z.infer<typeof SessionEvent>;
