import { exportExtensions } from "@tau-agent/rpc-protocol/plain";
import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const exportCommand = defineSubcommand({
  name: "export",
  summary: "Write a session as a page, as Markdown, as JSONL or as a trajectory (ATIF)",
  usage: ["<session> --format html|jsonl|markdown|atif [-o <file>]"],
  options: {
    format: {
      value: "format",
      choices: Object.keys(exportExtensions),
      help: "html (default), jsonl, markdown, atif",
    },
    output: {
      short: "o",
      value: "file",
      isPath: true,
      help: "Where to write it; by default in this folder",
    },
    "session-dir": {
      value: "folder",
      isPath: true,
      help: "Folder with the session files",
    },
    store: { value: "url|module", help: "Store that has the session" },
    "project-key": { help: "Project in the store" },
  },
  maxWords: 1,
  notes: `<session> is a session file, or the id of a session of this project. It may be in use; it is only
read. A trajectory has the current branch and the session's subagents.`,
  run: async ({ values, words: [session] }, context) => {
    const { exportSessionCommand } = await import("../session/export-command.ts");
    return exportSessionCommand({ ...values, session }, context);
  },
});
