import * as z from "zod/mini";

/** The resources that work has used. */
const SubagentUsage = z.object({
  /** Input tokens, without cached ones. */
  inputTokens: z.number(),
  /** Output tokens. */
  outputTokens: z.number(),
  /** Tokens read from a cache. */
  cacheReadTokens: z.number(),
  /** Tokens written to a cache. */
  cacheWriteTokens: z.number(),
  /** The sum of these. */
  totalTokens: z.number(),
  /** The cost, in US dollars. */
  costUsd: z.number(),
  /** The number of tool calls. */
  toolCalls: z.number(),
  /** The number of subagents that it started. */
  subagents: z.number(),
});

/** A subagent of a session, running or not. */
export const SubagentInfo = z.object({
  /** The id; that of a nested subagent is its path, as in `a/b`. */
  id: z.string(),
  /** The name of the agent definition. */
  agent: z.string(),
  /** The caller's description of the task; empty if there is none. */
  description: z.string(),
  /** Whether it is running, or how it last ended; `interrupted` means that its host ended. */
  status: z.enum([
    "running",
    "completed",
    "failed",
    "aborted",
    "timed_out",
    "budget_exceeded",
    "interrupted",
  ]),
  /** When it was first started, in ms since the epoch. */
  startedAt: z.number(),
  /** When it last ended, in ms since the epoch. */
  endedAt: z.optional(z.number()),
  /** The total resources used. */
  usage: SubagentUsage,
  /** Whether it runs in the background, so that its caller did not wait. */
  background: z.boolean(),
  /** The session file, once it is known. */
  sessionFile: z.optional(z.string()),
  /** The call that last started or resumed it. */
  toolCallId: z.optional(z.string()),
});
export type SubagentInfo = z.infer<typeof SubagentInfo>;
