import * as z from "zod/mini";
import { command } from "../command.ts";
import { AgentMessage } from "../message.ts";
import { Model, ThinkingLevel } from "../model.ts";
import { noParams } from "./shared.ts";

/** How a queue is emptied: one message at each opportunity, or all of them. */
export const QueueMode = z.enum(["all", "one-at-a-time"]);
export type QueueMode = z.infer<typeof QueueMode>;

/** Whether steering interrupts a batch of tool calls or waits for its end. */
export const InterruptMode = z.enum(["immediate", "wait"]);
export type InterruptMode = z.infer<typeof InterruptMode>;

const TokenCounts = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  total: z.number(),
});

/** What `get_state` returns. */
export const SessionState = z.object({
  model: z.nullable(Model),
  thinkingLevel: ThinkingLevel,
  isStreaming: z.boolean(),
  isCompacting: z.boolean(),
  steeringMode: QueueMode,
  followUpMode: QueueMode,
  interruptMode: InterruptMode,
  queueMode: QueueMode,
  sessionFile: z.optional(z.string()),
  sessionId: z.string(),
  sessionName: z.optional(z.string()),
  autoCompactionEnabled: z.boolean(),
  messageCount: z.number(),
  pendingMessageCount: z.number(),
  queuedMessageCount: z.number(),
  tokens: TokenCounts,
  cost: z.number(),
});
export type SessionState = z.infer<typeof SessionState>;

/**
 * What `get_session_stats` returns. Tokens and cost cover the whole session file: all branches,
 * summaries, failed attempts and subagents.
 */
export const SessionStats = z.object({
  sessionFile: z.optional(z.string()),
  sessionId: z.string(),
  userMessages: z.number(),
  assistantMessages: z.number(),
  toolCalls: z.number(),
  toolResults: z.number(),
  totalMessages: z.number(),
  tokens: TokenCounts,
  cost: z.number(),
  /** What subagents used of it, at every depth; absent when there were none. */
  subagents: z.optional(z.object({ count: z.number(), tokens: TokenCounts, cost: z.number() })),
  /** How full the model's window is; null where no vendor has counted yet. */
  contextUsage: z.optional(
    z.object({
      tokens: z.nullable(z.number()),
      contextWindow: z.number(),
      percent: z.nullable(z.number()),
    }),
  ),
});
export type SessionStats = z.infer<typeof SessionStats>;

/** Reading the session. */
export const stateCommands = {
  get_state: command({
    summary: "Returns the state of the session.",
    params: noParams,
    result: () => SessionState,
  }),
  get_messages: command({
    summary:
      "Returns all messages of the conversation; one that is still streaming is not among them.",
    params: noParams,
    result: () => z.object({ messages: z.array(AgentMessage) }),
  }),
  get_session_stats: command({
    summary: "Returns message counts, tokens and cost of the session.",
    params: noParams,
    result: () => SessionStats,
  }),
  get_last_assistant_text: command({
    summary: "Returns the text of the last assistant message, or null.",
    params: noParams,
    result: () => z.object({ text: z.nullable(z.string()) }),
  }),
  get_commands: command({
    summary:
      "Lists extension commands, prompt templates and skills that a prompt can invoke with `/name`.",
    params: noParams,
    result: () =>
      z.object({
        commands: z.array(
          z.object({
            name: z.string(),
            description: z.optional(z.string()),
            source: z.enum(["extension", "prompt", "skill"]),
            location: z.optional(z.enum(["user", "project", "path"])),
            path: z.optional(z.string()),
          }),
        ),
      }),
  }),
};
