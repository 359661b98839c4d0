import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const evalSubcommand = defineSubcommand({
  name: "eval",
  summary: "Give tasks with hidden checks to a model, and count what it solves",
  usage: ["<folder> [--model <model>] [--runs n] [--jobs n] [--json] [-- <host options>]"],
  options: {
    model: { value: "model", isNeverEmpty: true, help: "Model, as for the host" },
    runs: { value: "n", help: "How often each task is run; 1 by default" },
    jobs: { value: "n", help: "How many runs go on side by side; 1 by default" },
    policy: { value: "file", isPath: true, help: "Managed policy of the hosts" },
    json: { kind: "switch", help: "Print the report as JSON" },
  },
  maxWords: 1,
  takesProgram: true,
  notes: `A task is <name>.toml or .json, or task.toml or .json in <name>/, with prompt and check, and perhaps
folder, setup, budget and workspace. Each run has a fresh copy of the folder, in the sandbox where
there is one. After a kill, the same command goes on. This asks a model, which costs what it costs.`,
  run: async ({ values, words: [folder], behind }, context) => {
    const { evalCommand } = await import("../eval/eval-command.ts");
    return evalCommand({ ...values, folder, behind }, context);
  },
});
