import * as z from "zod/mini";
import { AgentMessage, tokenKinds } from "../vocabulary/message.ts";
import { Model, ThinkingLevel } from "../vocabulary/model.ts";
import { PermissionMode } from "../vocabulary/permission.ts";
import { WorkspaceState } from "../vocabulary/workspace-state.ts";
import { command } from "./command.ts";

/** How a queue is emptied: one message at each opportunity, or all of them. */
export const QueueMode = z.enum(["all", "one-at-a-time"]);
export type QueueMode = z.infer<typeof QueueMode>;

/** Whether steering interrupts a batch of tool calls or waits for its end. */
export const InterruptMode = z.enum(["immediate", "wait"]);
export type InterruptMode = z.infer<typeof InterruptMode>;

/**
 * Whether the tool calls of a reply run one after the other (except for adjacent calls that only read) or all
 * together (except for calls that write the same file).
 */
export const ToolExecutionMode = z.enum(["sequential", "parallel"]);
export type ToolExecutionMode = z.infer<typeof ToolExecutionMode>;

const TokenCounts = z.object({
  ...tokenKinds,
  /** The sum of all tokens. */
  total: z.number(),
});

/** What `get_state` returns. */
export const SessionState = z.object({
  /** The model; null if none is available. */
  model: z.nullable(Model),
  /** The thinking level. */
  thinkingLevel: ThinkingLevel,
  /** Whether a run is in progress. */
  isStreaming: z.boolean(),
  /** Whether a compaction is in progress. */
  isCompacting: z.boolean(),
  /** Whether steering messages are delivered all at once or one at a time. */
  steeringMode: QueueMode,
  /** Whether follow-up messages are delivered all at once or one at a time. */
  followUpMode: QueueMode,
  /** Whether steering interrupts a batch of tool calls or waits for its end. */
  interruptMode: InterruptMode,
  /** Whether messages of `queue_message` are delivered all at once or one per turn. */
  queueMode: QueueMode,
  /** Whether the tool calls of a reply run one after the other or all together. */
  toolExecution: ToolExecutionMode,
  /** The session file; absent if the session is in memory or has no file yet. */
  sessionFile: z.optional(z.string()),
  /** The id of the session. */
  sessionId: z.string(),
  /** The name shown in session lists. */
  sessionName: z.optional(z.string()),
  /** Whether automatic compaction is enabled. */
  autoCompactionEnabled: z.boolean(),
  /** The number of messages in the conversation. */
  messageCount: z.number(),
  /** The number of queued messages. */
  pendingMessageCount: z.number(),
  /** The same as `pendingMessageCount`. */
  queuedMessageCount: z.number(),
  /** Tokens used in the whole session file. */
  tokens: TokenCounts,
  /** Cost of the session in US dollars. */
  cost: z.number(),
  /** How calls are approved if no rule matches them. */
  permissionMode: PermissionMode,
  /** Where the tools act. */
  workspace: z.optional(WorkspaceState),
  /** The ids of the open host requests, oldest first. */
  pendingRequests: z.array(z.string()),
  /** The paused prompt, which continues with `resume`. */
  pausedPromptId: z.optional(z.string()),
});
export type SessionState = z.infer<typeof SessionState>;

/**
 * What `get_session_stats` returns. Tokens and cost cover the whole session file: all branches,
 * summaries, failed attempts and subagents.
 */
export const SessionStats = z.object({
  /** The session file; absent if the session is in memory or has no file yet. */
  sessionFile: z.optional(z.string()),
  /** The id of the session. */
  sessionId: z.string(),
  /** User messages. */
  userMessages: z.number(),
  /** Assistant messages. */
  assistantMessages: z.number(),
  /** Tool calls. */
  toolCalls: z.number(),
  /** Tool results. */
  toolResults: z.number(),
  /** Messages of all kinds. */
  totalMessages: z.number(),
  /** Tokens used in the whole session file. */
  tokens: TokenCounts,
  /** Cost of the whole session file in US dollars. */
  cost: z.number(),
  /** The share of subagents at every depth; absent if there were none. */
  subagents: z.optional(
    z.object({
      /** The number of subagents. */
      count: z.number(),
      /** Tokens used by subagents. */
      tokens: TokenCounts,
      /** Cost in US dollars. */
      cost: z.number(),
    }),
  ),
  /** What prompt caches saved; absent before the first reply with usage. */
  cacheUsage: z.optional(
    z.object({
      /** Percentage of the whole session's input tokens that came from a cache. */
      percent: z.number(),
      /** The latest model calls of the current branch, oldest first, at most 50. */
      turns: z.array(
        z.object({
          /** When the call was made, in Unix milliseconds. */
          timestamp: z.number(),
          /** Input tokens that were not cached. */
          input: z.number(),
          /** Input tokens read from a cache. */
          cacheRead: z.number(),
          /** Input tokens written to a cache. */
          cacheWrite: z.number(),
          /** Percentage of the input tokens that came from a cache. */
          percent: z.number(),
        }),
      ),
    }),
  ),
  /** Requests that renewed the prompt cache while tools ran; absent if there were none. */
  cacheWarming: z.optional(
    z.object({
      /** The number of requests. */
      requests: z.number(),
      /** Their cost in US dollars, which is part of `cost`. */
      costUsd: z.number(),
    }),
  ),
  /** How full the context window is. */
  contextUsage: z.optional(
    z.object({
      /** Tokens in the context window; null until the vendor has reported usage. */
      tokens: z.nullable(z.number()),
      /** The size of the context window in tokens. */
      contextWindow: z.number(),
      /** Percentage of the context window in use; null until the vendor has reported usage. */
      percent: z.nullable(z.number()),
    }),
  ),
});
export type SessionStats = z.infer<typeof SessionStats>;

/** One part of a request's context. */
export const ContextRow = z.object({
  /** The kind of part. */
  kind: z.enum([
    "system",
    "tools",
    "mcp",
    "skills",
    "context_files",
    "messages",
    "tool_results",
    "images",
    "summary",
  ]),
  /** The path of a context file, the name of an MCP server, or the name of the tool that produced these results. */
  name: z.optional(z.string()),
  /** The approximate number of tokens. */
  tokens: z.number(),
});
export type ContextRow = z.infer<typeof ContextRow>;

/** What `get_context` returns. */
export const ContextReport = z.object({
  /** The size of the model's context window in tokens; null without a model. */
  contextWindow: z.nullable(z.number()),
  /** The approximate number of tokens of the next request: the sum of the rows. */
  used: z.number(),
  /** The tokens are estimates; `get_session_stats` returns the vendor's counts. */
  estimated: z.literal(true),
  /** The parts, with their tokens. */
  rows: z.array(ContextRow),
  /** Results of tools that requests show as one line; `get_entries` returns them. */
  cleared: z.array(
    z.object({
      /** The entry of the result. */
      entryId: z.string(),
      /** The approximate number of tokens of the full result. */
      tokens: z.number(),
    }),
  ),
});
export type ContextReport = z.infer<typeof ContextReport>;

/** Reading the session. */
export const stateCommands = {
  get_state: command({
    summary: "Returns the state of the session.",
    result: () => SessionState,
    answersAtOnce: true,
  }),
  get_messages: command({
    summary: "Returns all messages of the conversation, without one that is still streaming.",
    result: () =>
      z.object({
        /** The messages, oldest first. */
        messages: z.array(AgentMessage),
      }),
  }),
  get_session_stats: command({
    summary: "Returns message counts, tokens and cost of the session.",
    result: () => SessionStats,
  }),
  get_context: command({
    summary: "Returns what the next request to the model contains, by kind, in estimated tokens.",
    result: () => ContextReport,
  }),
  get_last_assistant_text: command({
    summary: "Returns the text of the last assistant message, or null.",
    result: () =>
      z.object({
        /** The text; null if there is no reply yet. */
        text: z.nullable(z.string()),
      }),
  }),
  get_commands: command({
    summary:
      "Lists extension commands, prompt templates and skills that a prompt can invoke with `/name`.",
    result: () =>
      z.object({
        /** The commands. */
        commands: z.array(
          z.object({
            /** The name that follows the slash in a prompt. */
            name: z.string(),
            /** A one-line description. */
            description: z.optional(z.string()),
            /** What kind of resource defines it. */
            source: z.enum(["extension", "prompt", "skill"]),
            /** Where it was found: the user's or the project's folders, or a path on the command line. */
            location: z.optional(z.enum(["user", "project", "path"])),
            /** The file that defines it. */
            path: z.optional(z.string()),
            /** Where it comes from, in the form that clients of pi read. */
            sourceInfo: z.object({
              /** The file that defines it; empty if there is none. */
              path: z.string(),
              /** How it was found: `auto`, `cli`, `local` or the source of its package. */
              source: z.string(),
              /** Whether it belongs to the agent directory, the project or only this run. */
              scope: z.enum(["user", "project", "temporary"]),
              /** Whether it belongs to a package. */
              origin: z.enum(["package", "top-level"]),
              /** The folder of its package. */
              baseDir: z.optional(z.string()),
            }),
          }),
        ),
      }),
  }),
};
