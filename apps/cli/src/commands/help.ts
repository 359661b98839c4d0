import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const help = defineSubcommand({
  name: "help",
  summary: "Explain a command or a topic",
  usage: ["[<command>|<topic>]"],
  options: {},
  maxWords: 1,
  run: async ({ words: [topic] }, { print, commands }) => {
    const { helpOn } = await import("./help-topics.ts");
    print(await helpOn(commands, topic));
    return 0;
  },
});
