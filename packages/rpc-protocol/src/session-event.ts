import * as z from "zod/mini";
import { AgentEvent } from "./agent-event.ts";
import { budgetEvents } from "./budget.ts";
import { ThinkingLevel } from "./model.ts";
import { StreamRuleInfo } from "./stream-rule.ts";
import { subagentEvents } from "./subagent-event.ts";
import { todoEvents } from "./todo.ts";

/** What a compaction produced. */
export const CompactionResult = z.object({
  summary: z.string(),
  firstKeptEntryId: z.string(),
  tokensBefore: z.number(),
  details: z.optional(z.unknown()),
});
export type CompactionResult = z.infer<typeof CompactionResult>;

const compactionEnd = {
  result: z.nullable(CompactionResult),
  aborted: z.boolean(),
  willRetry: z.boolean(),
  errorMessage: z.optional(z.string()),
};

const AutomaticReason = z.enum(["threshold", "overflow"]);

/** How an accepted prompt ended. */
export const PromptStatus = z.enum(["completed", "aborted", "error", "handled"]);
export type PromptStatus = z.infer<typeof PromptStatus>;

/** What a session reports beyond its agent's loop. */
export const SessionOnlyEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("agent_settled"), aborted: z.boolean() }),
  z.object({
    type: z.literal("prompt_result"),
    id: z.optional(z.union([z.string(), z.number()])),
    status: PromptStatus,
    error: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("queue_update"),
    steering: z.array(z.string()),
    followUp: z.array(z.string()),
  }),
  z.object({ type: z.literal("auto_compaction_start"), reason: AutomaticReason }),
  z.object({
    type: z.literal("auto_compaction_end"),
    /** Sent after `initialize`. */
    reason: z.optional(AutomaticReason),
    ...compactionEnd,
  }),
  z.object({ type: z.literal("compaction_start"), reason: z.literal("manual") }),
  z.object({
    type: z.literal("compaction_end"),
    reason: z.literal("manual"),
    ...compactionEnd,
  }),
  z.object({
    type: z.literal("auto_retry_start"),
    attempt: z.number(),
    maxAttempts: z.number(),
    delayMs: z.number(),
    errorMessage: z.string(),
  }),
  z.object({
    type: z.literal("auto_retry_end"),
    success: z.boolean(),
    attempt: z.number(),
    finalError: z.optional(z.string()),
  }),
  z.object({ type: z.literal("session_info_changed"), name: z.optional(z.string()) }),
  z.object({ type: z.literal("thinking_level_changed"), level: ThinkingLevel }),
  z.object({
    type: z.literal("bash_execution_update"),
    id: z.optional(z.union([z.string(), z.number()])),
    delta: z.string(),
  }),
  z.object({
    type: z.literal("extension_error"),
    extensionPath: z.string(),
    event: z.string(),
    error: z.string(),
  }),
  z.object({ type: z.literal("ttsr_triggered"), rules: z.array(StreamRuleInfo) }),
  ...subagentEvents,
  ...budgetEvents,
  ...todoEvents,
  /** A problem that concerns no single command, e.g. a full disk during a run. */
  z.object({ type: z.literal("error"), error: z.string(), code: z.optional(z.string()) }),
]);
export type SessionOnlyEvent = z.infer<typeof SessionOnlyEvent>;

/** Everything a session reports. */
export const SessionEvent = z.union([AgentEvent, SessionOnlyEvent]);
export type SessionEvent = z.infer<typeof SessionEvent>;
