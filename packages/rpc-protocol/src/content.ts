import * as z from "zod/mini";

/** Plain text in a message; `textSignature` is a vendor's opaque replay token. */
export const TextContent = z.object({
  type: z.literal("text"),
  text: z.string(),
  textSignature: z.optional(z.string()),
});
export type TextContent = z.infer<typeof TextContent>;

/** An image as base64 (no data-URL prefix) with its MIME type. */
export const ImageContent = z.object({
  type: z.literal("image"),
  data: z.string(),
  mimeType: z.string(),
});
export type ImageContent = z.infer<typeof ImageContent>;

/** Model reasoning. A `redacted` block carries only its opaque signature. */
export const ThinkingContent = z.object({
  type: z.literal("thinking"),
  thinking: z.string(),
  thinkingSignature: z.optional(z.string()),
  redacted: z.optional(z.boolean()),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

/** A model's request to run a tool; `arguments` is the parsed JSON object. */
export const ToolCall = z.object({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  thoughtSignature: z.optional(z.string()),
  /**
   * The raw text of arguments that never parsed. Such a call is answered with a
   * validation error and not run.
   */
  argumentsError: z.optional(z.string()),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** What a user message or a tool result may hold. */
export const UserContent = z.discriminatedUnion("type", [TextContent, ImageContent]);
export type UserContent = z.infer<typeof UserContent>;

/** What an assistant message may hold. */
export const AssistantContent = z.discriminatedUnion("type", [
  TextContent,
  ThinkingContent,
  ToolCall,
]);
export type AssistantContent = z.infer<typeof AssistantContent>;

/** A file sent along with a user message, as the oldest dialect knows it. */
export const Attachment = z.object({
  id: z.string(),
  type: z.enum(["image", "document"]),
  fileName: z.string(),
  mimeType: z.string(),
  size: z.number(),
  content: z.string(),
  extractedText: z.optional(z.nullable(z.string())),
  preview: z.optional(z.nullable(z.string())),
});
export type Attachment = z.infer<typeof Attachment>;

/** An image as clients may send it: the documented shape, or a `source` as older dialects have it. */
export const ImageInput = z.union([
  ImageContent,
  z.object({
    type: z.literal("image"),
    source: z.discriminatedUnion("type", [
      z.object({ type: z.literal("base64"), mediaType: z.string(), data: z.string() }),
      z.object({ type: z.literal("url"), url: z.string() }),
    ]),
  }),
]);
export type ImageInput = z.infer<typeof ImageInput>;
