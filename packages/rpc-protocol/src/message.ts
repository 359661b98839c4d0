import * as z from "zod/mini";
import { AssistantContent, Attachment, UserContent } from "./content.ts";

/** US dollars per kind of token; `total` is their sum. */
export const UsageCost = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  total: z.number(),
});
export type UsageCost = z.infer<typeof UsageCost>;

/**
 * Tokens of one model call. `input` excludes cached tokens; `reasoning` is a part of
 * `output`, `cacheWrite1h` a part of `cacheWrite`.
 */
export const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  totalTokens: z.optional(z.number()),
  reasoning: z.optional(z.number()),
  cacheWrite1h: z.optional(z.number()),
  cost: UsageCost,
});
export type Usage = z.infer<typeof Usage>;

/** Why a reply ended. */
export const StopReason = z.enum(["stop", "length", "toolUse", "error", "aborted"]);
export type StopReason = z.infer<typeof StopReason>;

/** What a person (or the client on their behalf) said. `timestamp` is in ms since the epoch. */
export const UserMessage = z.object({
  role: z.literal("user"),
  content: z.union([z.string(), z.array(UserContent)]),
  attachments: z.optional(z.array(Attachment)),
  timestamp: z.number(),
});
export type UserMessage = z.infer<typeof UserMessage>;

/** One reply of a model. */
export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: z.array(AssistantContent),
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  usage: Usage,
  stopReason: StopReason,
  errorMessage: z.optional(z.string()),
  /** The model a gateway really used, when it says so. */
  responseModel: z.optional(z.string()),
  responseId: z.optional(z.string()),
  /** The vendor's own word for the stop, when it is not one we map. */
  rawStopReason: z.optional(z.string()),
  timestamp: z.number(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

/** The answer to one tool call. */
export const ToolResultMessage = z.object({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string(),
  content: z.array(UserContent),
  details: z.optional(z.unknown()),
  /** The same as data, from tools that give it. */
  structuredContent: z.optional(z.unknown()),
  isError: z.boolean(),
  usage: z.optional(Usage),
  timestamp: z.number(),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

/** A command the client ran with `bash`; reaches the model as user text at the next prompt. */
export const BashExecutionMessage = z.object({
  role: z.literal("bashExecution"),
  command: z.string(),
  output: z.string(),
  exitCode: z.optional(z.nullable(z.number())),
  cancelled: z.boolean(),
  truncated: z.boolean(),
  fullOutputPath: z.optional(z.nullable(z.string())),
  excludeFromContext: z.optional(z.boolean()),
  timestamp: z.number(),
});
export type BashExecutionMessage = z.infer<typeof BashExecutionMessage>;

/** A message an extension put into the conversation. */
export const CustomMessage = z.object({
  role: z.literal("custom"),
  customType: z.string(),
  content: z.union([z.string(), z.array(UserContent)]),
  display: z.boolean(),
  details: z.optional(z.unknown()),
  timestamp: z.number(),
});
export type CustomMessage = z.infer<typeof CustomMessage>;

/** What an abandoned branch was about. */
export const BranchSummaryMessage = z.object({
  role: z.literal("branchSummary"),
  summary: z.string(),
  fromId: z.string(),
  timestamp: z.number(),
});
export type BranchSummaryMessage = z.infer<typeof BranchSummaryMessage>;

/** What stands in for the compacted part of a conversation. */
export const CompactionSummaryMessage = z.object({
  role: z.literal("compactionSummary"),
  summary: z.string(),
  tokensBefore: z.number(),
  timestamp: z.number(),
});
export type CompactionSummaryMessage = z.infer<typeof CompactionSummaryMessage>;

/** The messages a model understands. */
export type LlmMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** Every message of a conversation. */
export const AgentMessage = z.discriminatedUnion("role", [
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
]);
export type AgentMessage = z.infer<typeof AgentMessage>;
