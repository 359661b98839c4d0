import * as z from "zod/mini";

const request = { type: z.literal("extension_ui_request"), id: z.string() };
const timeout = { timeout: z.optional(z.number()) };

/** What an extension asks the client to show. The first four methods wait for an answer. */
export const ExtensionUiRequest = z.discriminatedUnion("method", [
  z.object({
    ...request,
    method: z.literal("select"),
    title: z.string(),
    options: z.array(z.string()),
    ...timeout,
  }),
  z.object({
    ...request,
    method: z.literal("confirm"),
    title: z.string(),
    message: z.string(),
    ...timeout,
  }),
  z.object({
    ...request,
    method: z.literal("input"),
    title: z.string(),
    placeholder: z.optional(z.string()),
    ...timeout,
  }),
  z.object({
    ...request,
    method: z.literal("editor"),
    title: z.string(),
    prefill: z.optional(z.string()),
  }),
  z.object({
    ...request,
    method: z.literal("notify"),
    message: z.string(),
    notifyType: z.optional(z.enum(["info", "warning", "error"])),
  }),
  z.object({
    ...request,
    method: z.literal("setStatus"),
    statusKey: z.string(),
    statusText: z.optional(z.string()),
  }),
  z.object({
    ...request,
    method: z.literal("setWidget"),
    widgetKey: z.string(),
    widgetLines: z.optional(z.array(z.string())),
    widgetPlacement: z.optional(z.enum(["aboveEditor", "belowEditor"])),
  }),
  z.object({ ...request, method: z.literal("setTitle"), title: z.string() }),
  z.object({ ...request, method: z.literal("set_editor_text"), text: z.string() }),
]);
export type ExtensionUiRequest = z.infer<typeof ExtensionUiRequest>;

/** The client's answer to a dialog; sent on stdin, itself never answered. */
export const ExtensionUiResponse = z.object({
  type: z.literal("extension_ui_response"),
  id: z.string(),
  value: z.optional(z.string()),
  confirmed: z.optional(z.boolean()),
  cancelled: z.optional(z.boolean()),
});
export type ExtensionUiResponse = z.infer<typeof ExtensionUiResponse>;
