import * as z from "zod/mini";
import { UserContent } from "./content.ts";
import { AgentMessage, Usage } from "./message.ts";

/** First line of a session file. `timestamp` is ISO 8601, `parentSession` a path. */
export const SessionHeader = z.object({
  type: z.literal("session"),
  version: z.optional(z.number()),
  id: z.string(),
  timestamp: z.string(),
  cwd: z.string(),
  parentSession: z.optional(z.string()),
});
export type SessionHeader = z.infer<typeof SessionHeader>;

const node = { id: z.string(), parentId: z.nullable(z.string()), timestamp: z.string() };

/** A node of the session tree; every line after the header is one. */
export const KnownSessionEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), ...node, message: AgentMessage }),
  z.object({
    type: z.literal("model_change"),
    ...node,
    provider: z.string(),
    modelId: z.string(),
  }),
  z.object({ type: z.literal("thinking_level_change"), ...node, thinkingLevel: z.string() }),
  z.object({
    type: z.literal("compaction"),
    ...node,
    summary: z.string(),
    firstKeptEntryId: z.string(),
    tokensBefore: z.number(),
    details: z.optional(z.unknown()),
    fromHook: z.optional(z.boolean()),
    usage: z.optional(Usage),
  }),
  z.object({
    type: z.literal("branch_summary"),
    ...node,
    fromId: z.string(),
    summary: z.string(),
    details: z.optional(z.unknown()),
    fromHook: z.optional(z.boolean()),
    usage: z.optional(Usage),
  }),
  z.object({
    type: z.literal("custom"),
    ...node,
    customType: z.string(),
    data: z.optional(z.unknown()),
  }),
  z.object({
    type: z.literal("custom_message"),
    ...node,
    customType: z.string(),
    content: z.union([z.string(), z.array(UserContent)]),
    display: z.boolean(),
    details: z.optional(z.unknown()),
  }),
  z.object({
    type: z.literal("label"),
    ...node,
    targetId: z.string(),
    label: z.optional(z.string()),
  }),
  /** What the context says instead of the target; `null` leaves the target out of it. */
  z.object({
    type: z.literal("context_edit"),
    ...node,
    targetId: z.string(),
    replacement: z.nullable(z.object({ content: z.unknown() })),
  }),
  z.object({ type: z.literal("session_info"), ...node, name: z.optional(z.string()) }),
]);
export type KnownSessionEntry = z.infer<typeof KnownSessionEntry>;

/** An entry of a type this version does not know; kept as it is. */
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
