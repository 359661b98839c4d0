import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const models = defineSubcommand({
  name: "models",
  summary: "List the models there is a key for, or read newer facts about them",
  usage: ["[search …]", "refresh [provider …] [--from <url>]"],
  options: {
    from: {
      value: "url",
      help: "Where refresh reads facts about all providers; models.dev by default",
    },
  },
  notes: `refresh asks the public list and each provider's own for prices, windows and new models, and keeps
them in the agent directory. Nothing is asked at any other time.`,
  run: async ({ values: { from }, words }, context) => {
    const { modelsCommand } = await import("./models-command.ts");
    return modelsCommand({ from, words }, context);
  },
});
