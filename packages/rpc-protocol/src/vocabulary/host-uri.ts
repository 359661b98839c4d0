import * as z from "zod/mini";

/** What the host wants of a URI that its client serves. */
export const HostUriParams = z.object({
  /** Whether its text is wanted, or is to be replaced. */
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
  /** The subagent that wants it, as in `subagent_start`; nested ones are joined by `/`. */
  agentId: z.optional(z.string()),
  ...HostUriParams.def.shape,
});
export type HostUriRequest = z.infer<typeof HostUriRequest>;

/** A request for a URI is not wanted any more. */
export const HostUriCancel = z.object({
  type: z.literal("host_uri_cancel"),
  /** The id of this frame. */
  id: z.string(),
  /** The id of the request. */
  targetId: z.string(),
});
export type HostUriCancel = z.infer<typeof HostUriCancel>;

/** What came of a request for a URI. */
export const HostUriResult = z.object({
  type: z.literal("host_uri_result"),
  /** The id of the request. */
  id: z.string(),
  /** The text that was read; with `isError`, what went wrong. */
  content: z.optional(z.string()),
  /** What kind of text it is; `text/plain` if absent. */
  contentType: z.optional(z.string()),
  /** Remarks for the model, shown after the text. */
  notes: z.optional(z.array(z.string())),
  /** Whether the text never changes. */
  immutable: z.optional(z.boolean()),
  /** Whether the request failed. */
  isError: z.optional(z.boolean()),
  /** Why it failed; goes before `content`. */
  error: z.optional(z.string()),
});
export type HostUriResult = z.infer<typeof HostUriResult>;
