import * as z from "zod/mini";
import { command } from "../command.ts";
import { Cancelled, noParams, nothing } from "./shared.ts";

/** Session files. */
export const sessionCommands = {
  set_session_name: command({
    summary: "Sets the name shown in session lists.",
    params: () => z.object({ name: z.string() }),
    result: nothing,
    data: "none",
    positional: ["name"],
  }),
  switch_session: command({
    summary: "Continues another session file.",
    params: () => z.object({ sessionPath: z.string() }),
    result: Cancelled,
    positional: ["sessionPath"],
  }),
  fork: command({
    summary:
      "Starts a new session file that ends before a chosen user message and returns that message's text.",
    params: () => z.object({ entryId: z.string() }),
    result: () => z.object({ text: z.string(), cancelled: z.boolean() }),
    positional: ["entryId"],
  }),
  get_fork_messages: command({
    summary: "Lists the user messages a fork can start from.",
    params: noParams,
    result: () =>
      z.object({ messages: z.array(z.object({ entryId: z.string(), text: z.string() })) }),
  }),
  export_html: command({
    summary: "Writes the session as one HTML page and returns its path.",
    params: () => z.object({ outputPath: z.optional(z.string()) }),
    result: () => z.object({ path: z.string() }),
    positional: ["outputPath"],
  }),
};
