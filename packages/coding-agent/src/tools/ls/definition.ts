import { toolRow } from "../common/tool-row.ts";

export const lsTool = toolRow({
  name: "ls",
  description: "List a directory, hidden files included.",
  properties: {
    path: { type: "string" },
    limit: { type: "number" },
  },
  required: [],
  isReadOnly: true,
  load: async () => (await import("./ls.ts")).runLsTool,
});
