import * as z from "zod/mini";

/** Plain text in a message; `textSignature` is a vendor's opaque replay token. */
export const TextContent = z.object({
  type: z.literal("text"),
  /** The text. */
  text: z.string(),
  /** An opaque token of the vendor, sent back unchanged. */
  textSignature: z.optional(z.string()),
});
export type TextContent = z.infer<typeof TextContent>;

/** An image as base64 (no data-URL prefix) with its MIME type. */
export const ImageContent = z.object({
  type: z.literal("image"),
  /** The image as base64, without a data-URL prefix. */
  data: z.string(),
  /** The MIME type. */
  mimeType: z.string(),
});
export type ImageContent = z.infer<typeof ImageContent>;

/** Model reasoning. A `redacted` block carries only its opaque signature. */
export const ThinkingContent = z.object({
  type: z.literal("thinking"),
  /** The reasoning text. */
  thinking: z.string(),
  /** An opaque token of the vendor, sent back unchanged. */
  thinkingSignature: z.optional(z.string()),
  /** Whether the vendor withholds the reasoning text. */
  redacted: z.optional(z.boolean()),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

/** A model's request to run a tool; `arguments` is the parsed JSON object. */
export const ToolCall = z.object({
  type: z.literal("toolCall"),
  /** The id to which its result refers. */
  id: z.string(),
  /** The name of the tool. */
  name: z.string(),
  /** The parsed arguments; they grow while the reply streams. */
  arguments: z.record(z.string(), z.unknown()),
  /** An opaque token of the vendor, sent back unchanged. */
  thoughtSignature: z.optional(z.string()),
  /** The raw text of arguments that could not be parsed. The call is not run; its result is a validation error. */
  argumentsError: z.optional(z.string()),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** A block of a user message or a tool result. */
export const UserContent = z.discriminatedUnion("type", [TextContent, ImageContent]);
export type UserContent = z.infer<typeof UserContent>;

/** A block of an assistant message. */
export const AssistantContent = z.discriminatedUnion("type", [
  TextContent,
  ThinkingContent,
  ToolCall,
]);
export type AssistantContent = z.infer<typeof AssistantContent>;

/** A file attached to a user message, in the form of the oldest dialect. */
export const Attachment = z.object({
  /** The id of the attachment. */
  id: z.string(),
  /** The kind of file. */
  type: z.enum(["image", "document"]),
  /** The file name without its folder. */
  fileName: z.string(),
  /** The MIME type. */
  mimeType: z.string(),
  /** The size in bytes. */
  size: z.number(),
  /** The file as base64. */
  content: z.string(),
  /** The text of a document. */
  extractedText: z.optional(z.nullable(z.string())),
  /** A preview image as base64. */
  preview: z.optional(z.nullable(z.string())),
});
export type Attachment = z.infer<typeof Attachment>;

/** A file consisting only of its bytes. */
export const AttachmentData = z.object({
  /** The MIME type. */
  mimeType: z.string(),
  /** The file as base64. */
  data: z.string(),
  /** The file name without its folder. */
  fileName: z.optional(z.string()),
});
export type AttachmentData = z.infer<typeof AttachmentData>;

/** A file as clients may send it: in the documented form, or only its bytes. */
export const AttachmentInput = z.union([Attachment, AttachmentData]);
export type AttachmentInput = z.infer<typeof AttachmentInput>;

/** A resource of an MCP server. */
export const ResourceReference = z.object({
  /** The name of the server. */
  server: z.string(),
  /** The address of the resource, as the server lists it. */
  uri: z.string(),
});
export type ResourceReference = z.infer<typeof ResourceReference>;

/** An image as clients may send it: in the documented form, or with a `source` as in older dialects. */
export const ImageInput = z.union([
  ImageContent,
  z.object({
    type: z.literal("image"),
    /** Where the image comes from. */
    source: z.discriminatedUnion("type", [
      z.object({
        type: z.literal("base64"),
        /** The MIME type. */
        mediaType: z.string(),
        /** The image as base64. */
        data: z.string(),
      }),
      z.object({
        type: z.literal("url"),
        /** An https URL. */
        url: z.string(),
      }),
    ]),
  }),
]);
export type ImageInput = z.infer<typeof ImageInput>;
