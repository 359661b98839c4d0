import { defineSubcommand } from "../command-line/define-subcommand.ts";
import { refuse } from "../command-line/values.ts";

export const execServer = defineSubcommand({
  name: "exec-server",
  summary: "Serve this machine's files and commands to a host elsewhere, on stdin and stdout",
  usage: ["[--cwd <folder>] [--root <folder>]…"],
  options: {
    cwd: { value: "folder", help: "The folder in which the work starts" },
    root: {
      kind: "list",
      value: "folder",
      help: "Open no file outside of this folder; may be repeated",
    },
  },
  maxWords: 0,
  notes: `A host starts it, for example through ssh: tau --workspace '{"command": ["ssh", "-T", "box", "tau",
"exec-server"], "cwd": "/srv/app"}'. It ends with its stdin. Commands are not bound by --root.`,
  run: async ({ values }) => {
    const { readExecServerOptions } = await import("../exec-server/exec-server-options.ts");
    const options = readExecServerOptions(values, process.cwd(), refuse);
    const { createLocalWorkspace } = await import("@tau-agent/coding-agent/workspace");
    const { serveExec } = await import("../exec-server/serve-exec.ts");
    await serveExec(options, createLocalWorkspace);
    return undefined;
  },
});
