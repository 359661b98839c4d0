import * as z from "zod/mini";

const request = {
  type: z.literal("extension_ui_request"),
  /** The id of the request, repeated in its answer. */
  id: z.string(),
};
const timeout = {
  /** Milliseconds after which the dialog closes by itself. */
  timeout: z.optional(z.number()),
};

/** A UI request of an extension to the client. The first four methods wait for an answer. */
export const ExtensionUiRequest = z.discriminatedUnion("method", [
  z.object({
    ...request,
    method: z.literal("select"),
    /** The title of the dialog. */
    title: z.string(),
    /** The options to choose from. */
    options: z.array(z.string()),
    ...timeout,
  }),
  z.object({
    ...request,
    method: z.literal("confirm"),
    /** The title of the dialog. */
    title: z.string(),
    /** The message. */
    message: z.string(),
    ...timeout,
  }),
  z.object({
    ...request,
    method: z.literal("input"),
    /** The title of the dialog. */
    title: z.string(),
    /** The text shown while the field is empty. */
    placeholder: z.optional(z.string()),
    ...timeout,
  }),
  z.object({
    ...request,
    method: z.literal("editor"),
    /** The title of the dialog. */
    title: z.string(),
    /** The initial text. */
    prefill: z.optional(z.string()),
  }),
  z.object({
    ...request,
    method: z.literal("notify"),
    /** The message. */
    message: z.string(),
    /** The severity; `info` if absent. */
    notifyType: z.optional(z.enum(["info", "warning", "error"])),
  }),
  z.object({
    ...request,
    method: z.literal("setStatus"),
    /** Identifies the status; a later one with the same key replaces it. */
    statusKey: z.string(),
    /** The text to show; absent to remove the status. */
    statusText: z.optional(z.string()),
  }),
  z.object({
    ...request,
    method: z.literal("setWidget"),
    /** Identifies the widget; a later one with the same key replaces it. */
    widgetKey: z.string(),
    /** The lines to show; absent to remove the widget. */
    widgetLines: z.optional(z.array(z.string())),
    /** Where to show the widget. */
    widgetPlacement: z.optional(z.enum(["aboveEditor", "belowEditor"])),
  }),
  z.object({
    ...request,
    method: z.literal("setTitle"),
    /** The title to show. */
    title: z.string(),
  }),
  z.object({
    ...request,
    method: z.literal("set_editor_text"),
    /** The text to put into the user's editor. */
    text: z.string(),
  }),
]);
export type ExtensionUiRequest = z.infer<typeof ExtensionUiRequest>;

/** The client's answer to a dialog; it gets no response. */
export const ExtensionUiResponse = z.object({
  type: z.literal("extension_ui_response"),
  /** The id of the request. */
  id: z.string(),
  /** The answer to `select`, `input` and `editor`. */
  value: z.optional(z.string()),
  /** The answer to `confirm`. */
  confirmed: z.optional(z.boolean()),
  /** Whether the dialog was dismissed. */
  cancelled: z.optional(z.boolean()),
});
export type ExtensionUiResponse = z.infer<typeof ExtensionUiResponse>;

/** A page for the user to open, in the form for clients of oh-my-pi 18; they do not answer. */
export const OpenUrlNotice = z.object({
  type: z.literal("extension_ui_request"),
  /** The id of the request. */
  id: z.string(),
  method: z.literal("open_url"),
  /** The page. */
  url: z.string(),
  /** Instructions for the user. */
  instructions: z.optional(z.string()),
});
export type OpenUrlNotice = z.infer<typeof OpenUrlNotice>;
