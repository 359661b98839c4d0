import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const rewind = defineSubcommand({
  name: "rewind",
  summary: "Take back what prompts did to the files of this project",
  usage: ["--list", "<entryId> [--conversation] [--dry-run] [--session <id>]"],
  options: {
    list: { kind: "switch", help: "Show the prompts that changed files, oldest first" },
    conversation: {
      kind: "switch",
      help: "Also continue the conversation from before the message",
    },
    "dry-run": { kind: "switch", help: "Show what would change, and change nothing" },
    session: {
      value: "id",
      help: "The session; the project's latest by default",
    },
  },
  maxWords: 1,
  notes: `The prompt with this id and all since are taken back; changes of others stay. <entryId> is also a
checkpoint, or the id that takes a rewind back. A conflict makes the exit code 1.`,
  run: async ({ values, words: [target] }, context) => {
    const { list = false, conversation = false, "dry-run": dryRun = false, session } = values;
    const { rewindCommand } = await import("../session/rewind-command.ts");
    return rewindCommand({ target, isList: list, conversation, dryRun, session }, context);
  },
});
