import { toolRow } from "../common/tool-row.ts";

/** Off unless `tools` names it or the setting `web.fetch` is on. */
export const webFetchName = "web_fetch";

export const webFetchTool = toolRow({
  name: webFetchName,
  description: "Fetch a public web page as Markdown, or JSON, text or a PDF as text.",
  properties: {
    url: { type: "string" },
    maxTokens: { type: "number", description: "Default 10000" },
  },
  required: ["url"],
  isParallel: true,
  openWorld: true,
  load: async () => (await import("./web-fetch.ts")).runWebFetchTool,
});
