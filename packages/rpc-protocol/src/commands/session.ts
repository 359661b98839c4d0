import * as z from "zod/mini";
import { type ExportFormat, exportExtensions } from "../vocabulary/constants.ts";
import { AnySessionEntry, SessionTreeNode } from "../vocabulary/session-tree.ts";
import { command } from "./command.ts";
import { Cancelled } from "./shared.ts";

const leafId = () => z.nullable(z.string());

/** A session in a list of sessions. */
const SessionInfo = () =>
  z.object({
    /** The file. */
    path: z.string(),
    /** The id of the session. */
    id: z.string(),
    /** The project folder. */
    cwd: z.string(),
    /** The name of the session. */
    name: z.optional(z.string()),
    /** The file of the parent session. */
    parentSessionPath: z.optional(z.string()),
    /** When the session was created, in ISO 8601. */
    created: z.string(),
    /** When it was last written, in ISO 8601. */
    modified: z.string(),
    /** The number of messages. */
    messageCount: z.number(),
    /** The text of the first message. */
    firstMessage: z.string(),
  });

const fork = command({
  summary:
    "Starts a new session file that ends before a chosen user message and returns that message's text.",
  params: () =>
    z.object({
      /** The entry id of a user message. */
      entryId: z.string(),
    }),
  result: () =>
    z.object({
      /** The text of the chosen message. */
      text: z.string(),
      /** Whether an extension vetoed it; if so, nothing has changed. */
      cancelled: z.boolean(),
    }),
  positional: ["entryId"],
  awaitsSessionChange: true,
  takesLong: true,
});

const forkMessages = command({
  summary: "Lists the user messages a fork can start from.",
  result: () =>
    z.object({
      /** The messages, oldest first. */
      messages: z.array(
        z.object({
          /** The entry id of a user message. */
          entryId: z.string(),
          /** The text of the message. */
          text: z.string(),
        }),
      ),
    }),
});

/** Session files. */
export const sessionCommands = {
  set_session_name: command({
    summary: "Sets the name shown in session lists.",
    params: () =>
      z.object({
        /** The name. */
        name: z.string(),
      }),
    positional: ["name"],
    awaitsSessionChange: true,
  }),
  switch_session: command({
    summary: "Continues another session file.",
    params: () =>
      z.object({
        /** The file of the session. */
        sessionPath: z.string(),
      }),
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
    result: Cancelled,
    awaitsSessionChange: true,
    takesLong: true,
  }),
  get_entries: command({
    summary: "Returns the entries of the session in file order; with `since`, only those after it.",
    params: () =>
      z.object({
        /** The id of the last entry the client already has. */
        since: z.optional(z.string()),
      }),
    result: () =>
      z.object({
        /** The entries in file order. */
        entries: z.array(AnySessionEntry()),
        /** The id of the entry the conversation continues from; null before the first. */
        leafId: leafId(),
      }),
    positional: ["since"],
  }),
  get_tree: command({
    summary: "Returns the entries of the session as a tree.",
    result: () =>
      z.object({
        /** The root entries. */
        tree: z.array(SessionTreeNode),
        /** The id of the entry the conversation continues from; null before the first. */
        leafId: leafId(),
      }),
  }),
  navigate_tree: command({
    summary:
      "Continues from another entry. From a user message, it continues just before it and returns its text. `summarize` adds a summary of the abandoned branch.",
    params: () =>
      z.object({
        /** The id of the target entry. */
        targetId: z.string(),
        /** Whether to add a summary of the abandoned branch. */
        summarize: z.optional(z.boolean()),
        /** Additional instructions for the summary. */
        customInstructions: z.optional(z.string()),
        /** Whether `customInstructions` replace the default instructions. */
        replaceInstructions: z.optional(z.boolean()),
        /** A label for the target entry. */
        label: z.optional(z.string()),
      }),
    result: () =>
      z.object({
        /** The text of the target, if it is a user message. */
        text: z.optional(z.string()),
        /** Whether an extension vetoed it; if so, nothing has changed. */
        cancelled: z.boolean(),
      }),
    positional: ["targetId"],
    awaitsSessionChange: true,
    takesLong: true,
  }),
  set_label: command({
    summary: "Sets the label of an entry; without `label`, removes it.",
    params: () =>
      z.object({
        /** The entry. */
        entryId: z.string(),
        /** The label; absent to remove it. */
        label: z.optional(z.string()),
      }),
    positional: ["entryId", "label"],
    awaitsSessionChange: true,
  }),
  list_sessions: command({
    summary:
      "Lists the sessions of this project's folder, the latest first; with `all`, those of every project.",
    params: () =>
      z.object({
        /** Whether to list the sessions of every project. */
        all: z.optional(z.boolean()),
        /**
         * In a host with many sessions: lists the saved sessions (in files, of every project, or in the
         * host's store) instead of the open ones.
         */
        saved: z.optional(z.boolean()),
      }),
    result: () =>
      z.object({
        /** The sessions. */
        sessions: z.array(SessionInfo()),
      }),
    scope: "connection",
  }),
  delete_session: command({
    summary: "Deletes a session file that is not in use.",
    params: () =>
      z.object({
        /** The file of the session. */
        sessionPath: z.string(),
      }),
    positional: ["sessionPath"],
  }),
  export_html: command({
    summary: "Writes the session as one HTML page and returns its path.",
    params: () =>
      z.object({
        /** The path of the page; by default, in the project folder. */
        outputPath: z.optional(z.string()),
      }),
    result: () =>
      z.object({
        /** The file. */
        path: z.string(),
      }),
    positional: ["outputPath"],
  }),
  export_session: command({
    summary:
      "Writes the session as one file: as an HTML page, as its own JSONL, as Markdown, or as a trajectory (ATIF) with its subagents.",
    params: () =>
      z.object({
        /** The format of the file. */
        format: z.enum(Object.keys(exportExtensions) as ExportFormat[]),
        /** The path of the file; by default, in the project folder. */
        outputPath: z.optional(z.string()),
      }),
    result: () =>
      z.object({
        /** The file. */
        path: z.string(),
      }),
    positional: ["format", "outputPath"],
    takesLong: true,
  }),
};
