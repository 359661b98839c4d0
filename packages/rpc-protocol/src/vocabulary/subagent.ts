import * as z from "zod/mini";

/** What work has used. */
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
  /** Calls of tools. */
  toolCalls: z.number(),
  /** Subagents that it started. */
  subagents: z.number(),
});

/** A subagent of a session, running or not. */
export const SubagentInfo = z.object({
  /** Its id; that of a nested one is its path, as in `a/b`. */
  id: z.string(),
  /** The name of its agent. */
  agent: z.string(),
  /** What it does, in the words of its caller; empty if those are missing. */
  description: z.string(),
  /** Whether it runs, or how it ended last; `interrupted`: with its host. */
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
  /** When it ended last, in ms since the epoch. */
  endedAt: z.optional(z.number()),
  /** What it has used in all. */
  usage: SubagentUsage,
  /** Whether its caller did not wait for it. */
  background: z.boolean(),
  /** Its session file, once that is known. */
  sessionFile: z.optional(z.string()),
  /** The call that started or resumed it last. */
  toolCallId: z.optional(z.string()),
});
export type SubagentInfo = z.infer<typeof SubagentInfo>;
