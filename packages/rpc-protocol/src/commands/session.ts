import * as z from "zod/mini";
import { command } from "../command.ts";
import { AnySessionEntry, SessionTreeNode } from "../session-tree.ts";
import { Cancelled, noParams, nothing } from "./shared.ts";

const leafId = () => z.nullable(z.string());

/** What a list of sessions says of one; times are ISO 8601. */
const SessionInfo = () =>
  z.object({
    path: z.string(),
    id: z.string(),
    cwd: z.string(),
    name: z.optional(z.string()),
    parentSessionPath: z.optional(z.string()),
    created: z.string(),
    modified: z.string(),
    messageCount: z.number(),
    firstMessage: z.string(),
  });

const fork = command({
  summary:
    "Starts a new session file that ends before a chosen user message and returns that message's text.",
  params: () => z.object({ entryId: z.string() }),
  result: () => z.object({ text: z.string(), cancelled: z.boolean() }),
  positional: ["entryId"],
  awaitsSessionChange: true,
  takesLong: true,
});

const forkMessages = command({
  summary: "Lists the user messages a fork can start from.",
  params: noParams,
  result: () =>
    z.object({ messages: z.array(z.object({ entryId: z.string(), text: z.string() })) }),
});

/** Session files. */
export const sessionCommands = {
  set_session_name: command({
    summary: "Sets the name shown in session lists.",
    params: () => z.object({ name: z.string() }),
    result: nothing,
    data: "none",
    positional: ["name"],
    awaitsSessionChange: true,
  }),
  switch_session: command({
    summary: "Continues another session file.",
    params: () => z.object({ sessionPath: z.string() }),
    result: Cancelled,
    positional: ["sessionPath"],
    awaitsSessionChange: true,
    takesLong: true,
  }),
  fork,
  get_fork_messages: forkMessages,
  // Their older names.
  branch: fork,
  get_branch_messages: forkMessages,
  clone: command({
    summary: "Starts a new session file with a copy of the current branch.",
    params: noParams,
    result: Cancelled,
    awaitsSessionChange: true,
    takesLong: true,
  }),
  get_entries: command({
    summary:
      "Returns the entries of the session in the order of its file; with `since`, those after it.",
    params: () => z.object({ since: z.optional(z.string()) }),
    result: () => z.object({ entries: z.array(AnySessionEntry()), leafId: leafId() }),
    positional: ["since"],
  }),
  get_tree: command({
    summary: "Returns the entries of the session as a tree.",
    params: noParams,
    result: () => z.object({ tree: z.array(SessionTreeNode), leafId: leafId() }),
  }),
  navigate_tree: command({
    summary:
      "Goes on from another entry; from a user message, from just before it, and its text is returned. `summarize` keeps a summary of the branch that is left.",
    params: () =>
      z.object({
        targetId: z.string(),
        summarize: z.optional(z.boolean()),
        customInstructions: z.optional(z.string()),
        replaceInstructions: z.optional(z.boolean()),
        label: z.optional(z.string()),
      }),
    result: () => z.object({ text: z.optional(z.string()), cancelled: z.boolean() }),
    positional: ["targetId"],
    awaitsSessionChange: true,
    takesLong: true,
  }),
  set_label: command({
    summary: "Gives an entry a label; without one, takes it away.",
    params: () => z.object({ entryId: z.string(), label: z.optional(z.string()) }),
    result: nothing,
    data: "none",
    positional: ["entryId", "label"],
    awaitsSessionChange: true,
  }),
  list_sessions: command({
    summary:
      "Lists the sessions of this project's folder, the latest first; with `all`, those of every project.",
    params: () => z.object({ all: z.optional(z.boolean()) }),
    result: () => z.object({ sessions: z.array(SessionInfo()) }),
  }),
  delete_session: command({
    summary: "Deletes a session file that is not in use.",
    params: () => z.object({ sessionPath: z.string() }),
    result: nothing,
    data: "none",
    positional: ["sessionPath"],
  }),
  export_html: command({
    summary: "Writes the session as one HTML page and returns its path.",
    params: () => z.object({ outputPath: z.optional(z.string()) }),
    result: () => z.object({ path: z.string() }),
    positional: ["outputPath"],
  }),
};
