import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const config = defineSubcommand({
  name: "config",
  summary: "Show and change settings",
  usage: ["show [-l]", "get <setting>", "set [-l] <setting> <value>", "unset [-l] <setting>"],
  actions: {
    show: "Shows where the settings are, and those that are not the default",
    get: "Prints the value of a setting as JSON",
    set: "Writes a setting; the value is JSON, or else a text",
    unset: "Removes a setting, so that its default counts",
  },
  options: {
    local: {
      kind: "switch",
      short: "l",
      help: "The project's .pi/settings.json, not settings.json of the agent directory",
    },
  },
  maxWords: 2,
  notes: "tau help settings lists the settings.",
  run: async ({ action, values: { local = false }, words }, context) => {
    const { configCommand } = await import("../packages/config-command.ts");
    return configCommand({ action, words, isLocal: local }, context);
  },
});
