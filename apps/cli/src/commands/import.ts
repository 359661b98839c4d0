import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const importCommand = defineSubcommand({
  name: "import",
  summary: "Make a session of a transcript of Claude Code or Codex",
  usage: ["<file> [--from claude-code|codex]"],
  options: {
    from: {
      value: "agent",
      choices: ["claude-code", "codex"],
      help: "Who wrote it, claude-code or codex; by default, what its lines look like",
    },
    cwd: {
      value: "folder",
      isNeverEmpty: true,
      help: "Project folder of the session, default the current one",
    },
    "session-dir": {
      value: "folder",
      isPath: true,
      help: "Folder for session files",
    },
  },
  maxWords: 1,
  notes: `It prints the session's file, what was imported, and what has no place in a session. Then
tau --continue goes on with it.`,
  run: async ({ values, words: [file] }, context) => {
    const { importSessionCommand } = await import("../session/import-command.ts");
    return importSessionCommand({ ...values, file }, context);
  },
});
