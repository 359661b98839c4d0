import * as z from "zod/mini";
import { AgentMessage, customContent, Usage } from "./message.ts";

/** First line of a session file. `timestamp` is ISO 8601, `parentSession` a path. */
export const SessionHeader = z.object({
  type: z.literal("session"),
  /** The version of the format. */
  version: z.optional(z.number()),
  /** The id of the session. */
  id: z.string(),
  /** When it was written, in ISO 8601. */
  timestamp: z.string(),
  /** The project folder. */
  cwd: z.string(),
  /** The file of the parent session. */
  parentSession: z.optional(z.string()),
  /** The workspace that contains the project folder; absent for the host's own machine. */
  workspace: z.optional(
    z.object({
      /** The id of the workspace. */
      id: z.string(),
    }),
  ),
});
export type SessionHeader = z.infer<typeof SessionHeader>;

const node = {
  /** The id of the entry. */
  id: z.string(),
  /** The id of the entry before it; null at the root. */
  parentId: z.nullable(z.string()),
  /** When it was written, in ISO 8601. */
  timestamp: z.string(),
};

/** A summary and the part of the conversation that it replaces. */
export const compacted = {
  /** The text that replaces the summarised messages. */
  summary: z.string(),
  /** The first entry that is kept unchanged. */
  firstKeptEntryId: z.string(),
  /** Tokens in the conversation before the compaction. */
  tokensBefore: z.number(),
  /** Data for clients; not sent to the model. */
  details: z.optional(z.unknown()),
};

/** A node of the session tree; every line after the header is one. */
export const KnownSessionEntry = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    ...node,
    /** The message. */
    message: AgentMessage,
    /** The id of the prompt, if the message is one. */
    promptId: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("model_change"),
    ...node,
    /** The model's provider. */
    provider: z.string(),
    /** The id of the model at its provider. */
    modelId: z.string(),
  }),
  z.object({
    type: z.literal("thinking_level_change"),
    ...node,
    /** The thinking level. */
    thinkingLevel: z.string(),
  }),
  z.object({
    type: z.literal("compaction"),
    ...node,
    ...compacted,
    /** Whether an extension wrote the summary. */
    fromHook: z.optional(z.boolean()),
    /** Tokens and cost. */
    usage: z.optional(Usage),
    /** In a long session file, the totals of the entries before the kept ones, so that hosts need not read those. */
    past: z.optional(z.unknown()),
  }),
  z.object({
    type: z.literal("branch_summary"),
    ...node,
    /** The last entry of the abandoned branch. */
    fromId: z.string(),
    /** The text that replaces the summarised messages. */
    summary: z.string(),
    /** Data for clients; not sent to the model. */
    details: z.optional(z.unknown()),
    /** Whether an extension wrote the summary. */
    fromHook: z.optional(z.boolean()),
    /** Tokens and cost. */
    usage: z.optional(Usage),
  }),
  z.object({
    type: z.literal("custom"),
    ...node,
    /** The extension's name for this kind of entry or message. */
    customType: z.string(),
    /** The extension's own data. */
    data: z.optional(z.unknown()),
  }),
  z.object({
    type: z.literal("custom_message"),
    ...node,
    ...customContent,
  }),
  z.object({
    type: z.literal("label"),
    ...node,
    /** The id of the target entry. */
    targetId: z.string(),
    /** The label; absent to remove it. */
    label: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("context_edit"),
    ...node,
    /** The id of the target entry. */
    targetId: z.string(),
    /** What the model sees instead of the target; null removes the target. */
    replacement: z.nullable(
      z.object({
        /** The content to use instead. */
        content: z.unknown(),
      }),
    ),
  }),
  z.object({
    type: z.literal("approval"),
    ...node,
    /** Whether the question is about to be asked or was answered. */
    phase: z.enum(["asked", "answered"]),
    /** The id of the host request; absent from a denial without a question. */
    requestId: z.optional(z.string()),
    /** The tool call in question. */
    toolCallId: z.string(),
    /** The prompt whose run asks. */
    promptId: z.optional(z.string()),
    /** The subagent that made the call. */
    agentId: z.optional(z.string()),
    /** The name of the tool. */
    toolName: z.optional(z.string()),
    /** The arguments in question, or those that the answer replaces them with. */
    input: z.optional(z.record(z.string(), z.unknown())),
    /** Whether the call may run. */
    decision: z.optional(z.enum(["allow", "deny"])),
    /** Who or what decided. */
    by: z.optional(z.enum(["client", "rule", "mode", "timeout", "abort", "end", "nobody"])),
    /** Whether the answer applies to the call, to the session, or is saved. */
    scope: z.optional(z.enum(["once", "session", "always"])),
    /** The user's message to the model. */
    message: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("session_info"),
    ...node,
    /** The new name of the session; absent to remove it. */
    name: z.optional(z.string()),
  }),
]);
export type KnownSessionEntry = z.infer<typeof KnownSessionEntry>;

type ApprovalMembers = Omit<
  Extract<KnownSessionEntry, { type: "approval" }>,
  "type" | "phase" | keyof typeof node
>;

/** Who or what decides about a call. */
export type DecidedBy = NonNullable<ApprovalMembers["by"]>;

/** The record of a question whether a tool may run, or of its answer. */
export type ApprovalEntry =
  | ({ phase: "asked" } & Pick<ApprovalMembers, "toolCallId" | "promptId" | "agentId"> & {
        requestId: string;
        toolName: string;
        input: Record<string, unknown>;
      })
  | ({ phase: "answered" } & Pick<
      ApprovalMembers,
      "toolCallId" | "requestId" | "scope" | "input" | "message"
    > & { decision: "allow" | "deny"; by: DecidedBy });

/** An entry of a type unknown to this version; kept unchanged. */
export interface UnknownSessionEntry {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
  [field: string]: unknown;
}

/** An entry of a session file. */
export type SessionEntry = KnownSessionEntry | UnknownSessionEntry;

/** The entry of one type. */
export type SessionEntryOf<T extends KnownSessionEntry["type"]> = Extract<
  KnownSessionEntry,
  { type: T }
>;
