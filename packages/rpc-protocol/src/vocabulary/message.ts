import * as z from "zod/mini";
import { AssistantContent, Attachment, UserContent } from "./content.ts";

/** US dollars per kind of token; `total` is their sum. */
export const UsageCost = z.object({
  /** US dollars for input tokens. */
  input: z.number(),
  /** US dollars for output tokens. */
  output: z.number(),
  /** US dollars for tokens read from the cache. */
  cacheRead: z.number(),
  /** US dollars for tokens written to the cache. */
  cacheWrite: z.number(),
  /** The sum of these costs. */
  total: z.number(),
});
export type UsageCost = z.infer<typeof UsageCost>;

/** Token counts by price category. */
export const tokenKinds = {
  /** Input tokens, without those read from or written to the cache. */
  input: z.number(),
  /** Output tokens. */
  output: z.number(),
  /** Tokens read from the vendor's cache. */
  cacheRead: z.number(),
  /** Tokens written to the vendor's cache. */
  cacheWrite: z.number(),
};

/**
 * Tokens of one model call. `input` excludes cached tokens; `reasoning` is a part of
 * `output`, `cacheWrite1h` a part of `cacheWrite`.
 */
export const Usage = z.object({
  ...tokenKinds,
  /** The sum of all tokens. */
  totalTokens: z.optional(z.number()),
  /** The part of `output` spent on reasoning. */
  reasoning: z.optional(z.number()),
  /** The part of `cacheWrite` with a lifetime of one hour. */
  cacheWrite1h: z.optional(z.number()),
  /** Cost in US dollars. */
  cost: UsageCost,
});
export type Usage = z.infer<typeof Usage>;

/** Why a reply ended. */
export const StopReason = z.enum(["stop", "length", "toolUse", "error", "aborted"]);
export type StopReason = z.infer<typeof StopReason>;

/** A message of the user, or of the client on their behalf. */
export const UserMessage = z.object({
  role: z.literal("user"),
  /** The text, or text and images. */
  content: z.union([z.string(), z.array(UserContent)]),
  /** The attached files, with the text extracted from them. */
  attachments: z.optional(z.array(Attachment)),
  /** Whether a program forwarded it, so that no user of the session wrote it. */
  verbatim: z.optional(z.literal(true)),
  /** When it was created, in ms since the epoch. */
  timestamp: z.number(),
});
export type UserMessage = z.infer<typeof UserMessage>;

/** One reply of a model. */
export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  /** Text, reasoning and tool calls, in order. */
  content: z.array(AssistantContent),
  /** The wire format of the model. */
  api: z.string(),
  /** The model's provider. */
  provider: z.string(),
  /** The id of the requested model. */
  model: z.string(),
  /** Tokens and cost. */
  usage: Usage,
  /** Why the reply ended. */
  stopReason: StopReason,
  /** The error message. */
  errorMessage: z.optional(z.string()),
  /** The model a gateway actually used, if it reports one. */
  responseModel: z.optional(z.string()),
  /** The vendor's id of the reply. */
  responseId: z.optional(z.string()),
  /** The vendor's stop reason, if it maps to none of `stopReason`. */
  rawStopReason: z.optional(z.string()),
  /** When it was created, in ms since the epoch. */
  timestamp: z.number(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

/** The answer to one tool call. */
export const ToolResultMessage = z.object({
  role: z.literal("toolResult"),
  /** The id of the tool call. */
  toolCallId: z.string(),
  /** The name of the tool. */
  toolName: z.string(),
  /** The content the model sees. */
  content: z.array(UserContent),
  /** Data for clients; not sent to the model. */
  details: z.optional(z.unknown()),
  /** The content as structured data, if the tool provides it; not sent to the model. */
  structuredContent: z.optional(z.unknown()),
  /** Whether the tool failed. */
  isError: z.boolean(),
  /** Tokens and cost of model calls the tool made itself. */
  usage: z.optional(Usage),
  /** When it was created, in ms since the epoch. */
  timestamp: z.number(),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

/** A command the client ran with `bash`; reaches the model as user text at the next prompt. */
export const BashExecutionMessage = z.object({
  role: z.literal("bashExecution"),
  /** The shell command. */
  command: z.string(),
  /** The output; only its end if it was truncated. */
  output: z.string(),
  /** The exit code; absent if the process was killed by a signal. */
  exitCode: z.optional(z.nullable(z.number())),
  /** Whether the command was killed. */
  cancelled: z.boolean(),
  /** Whether `output` was truncated. */
  truncated: z.boolean(),
  /** The file with the complete output, if `output` was truncated. */
  fullOutputPath: z.optional(z.nullable(z.string())),
  /** Whether to hide the command and its output from the model. */
  excludeFromContext: z.optional(z.boolean()),
  /** When it was created, in ms since the epoch. */
  timestamp: z.number(),
});
export type BashExecutionMessage = z.infer<typeof BashExecutionMessage>;

/** What an extension puts into the conversation. */
export const customContent = {
  /** The extension's name for this kind of entry or message. */
  customType: z.string(),
  /** The content the model sees. */
  content: z.union([z.string(), z.array(UserContent)]),
  /** Whether clients should display it. */
  display: z.boolean(),
  /** Data for clients; not sent to the model. */
  details: z.optional(z.unknown()),
};

/** A message an extension put into the conversation. */
export const CustomMessage = z.object({
  role: z.literal("custom"),
  ...customContent,
  /** When it was created, in ms since the epoch. */
  timestamp: z.number(),
});
export type CustomMessage = z.infer<typeof CustomMessage>;

/** The summary of an abandoned branch. */
export const BranchSummaryMessage = z.object({
  role: z.literal("branchSummary"),
  /** The text that replaces the summarised messages. */
  summary: z.string(),
  /** The last entry of the abandoned branch. */
  fromId: z.string(),
  /** When it was created, in ms since the epoch. */
  timestamp: z.number(),
});
export type BranchSummaryMessage = z.infer<typeof BranchSummaryMessage>;

/** The summary that replaces the compacted part of a conversation. */
export const CompactionSummaryMessage = z.object({
  role: z.literal("compactionSummary"),
  /** The text that replaces the summarised messages. */
  summary: z.string(),
  /** Tokens in the conversation before the compaction. */
  tokensBefore: z.number(),
  /** When it was created, in ms since the epoch. */
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
