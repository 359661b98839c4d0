import { toolRow } from "../common/tool-row.ts";

/** The `ls` tool. */
export const lsTool = toolRow({
  name: "ls",
  description:
    "List a directory in alphabetical order, hidden files included; directories end in /. " +
    "At most 500 entries or 50KB.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "Directory to list (default: the working directory)" },
      limit: { type: "number", description: "Entries to show (default 500)" },
    },
    required: [],
  },
  isReadOnly: true,
  promptSnippet: "List a directory",
  load: async () => (await import("./ls.ts")).runLsTool,
});
