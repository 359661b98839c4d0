import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const record = defineSubcommand({
  name: "record",
  summary: "Keep a provider's real reply, without keys, as a fixture for Tau's tests",
  usage: ['--provider <id> --model <id> --out <folder> "prompt"'],
  options: {
    provider: { value: "id", help: "The provider to ask" },
    model: { value: "id", help: "The model to ask" },
    out: { value: "folder", help: "A new or empty folder for the fixture" },
    thinking: { value: "level", help: "The thinking level; off by default" },
  },
  maxWords: 1,
  notes: `This sends one request, which costs what the provider charges. The model is offered a tool named
read, which is never run. Look through the files before you share them: the reply is kept whole.`,
  run: async ({ values, words: [prompt] }, context) => {
    const { recordCommand } = await import("../session/record-command.ts");
    return recordCommand({ ...values, prompt }, context);
  },
});
