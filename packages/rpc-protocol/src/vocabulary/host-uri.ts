import * as z from "zod/mini";

/** A request of the host for a URI that its client serves. */
export const HostUriParams = z.object({
  /** Whether to read the text or to replace it. */
  operation: z.enum(["read", "write"]),
  /** The URI, as the model wrote it. */
  url: z.string(),
  /** The new text, if `operation` is `write`. */
  content: z.optional(z.string()),
});
export type HostUriParams = z.infer<typeof HostUriParams>;

/** The host reads or writes a URI of a scheme that the client has registered. */
export const HostUriRequest = z.object({
  type: z.literal("host_uri_request"),
  /** The id of the request, repeated in its result. */
  id: z.string(),
  /** The requesting subagent, as in `subagent_start`; nested ones are joined by `/`. */
  agentId: z.optional(z.string()),
  ...HostUriParams.def.shape,
});
export type HostUriRequest = z.infer<typeof HostUriRequest>;

/** A request for a URI is cancelled. */
export const HostUriCancel = z.object({
  type: z.literal("host_uri_cancel"),
  /** The id of this frame. */
  id: z.string(),
  /** The id of the request. */
  targetId: z.string(),
});
export type HostUriCancel = z.infer<typeof HostUriCancel>;

/** The result of a request for a URI. */
export const HostUriResult = z.object({
  type: z.literal("host_uri_result"),
  /** The id of the request. */
  id: z.string(),
  /** The text that was read; with `isError`, the error. */
  content: z.optional(z.string()),
  /** The media type of the text; `text/plain` if absent. */
  contentType: z.optional(z.string()),
  /** Notes for the model, shown after the text. */
  notes: z.optional(z.array(z.string())),
  /** Whether the text never changes. */
  immutable: z.optional(z.boolean()),
  /** Whether the request failed. */
  isError: z.optional(z.boolean()),
  /** The error message; shown before `content`. */
  error: z.optional(z.string()),
});
export type HostUriResult = z.infer<typeof HostUriResult>;
