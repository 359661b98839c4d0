import { toolRow } from "../common/tool-row.ts";

/** The names of the tools for background subagents, which are declared from the first such subagent on. */
export const subagentToolNames: ReadonlySet<string> = new Set([
  "subagent_output",
  "abort_subagent",
  "list_subagents",
]);

const id = { type: "string" } as const;

export const subagentOutputTool = toolRow({
  name: "subagent_output",
  description: "Show a subagent's status and last text; waits for its end up to waitMs.",
  properties: { id, waitMs: { type: "number", description: "At most 60000" } },
  required: ["id"],
  isReadOnly: true,
  load: async () => (await import("./subagents.ts")).runSubagentOutputTool,
});

export const abortSubagentTool = toolRow({
  name: "abort_subagent",
  description: "Stop a subagent.",
  properties: { id },
  required: ["id"],
  load: async () => (await import("./subagents.ts")).runAbortSubagentTool,
});

export const listSubagentsTool = toolRow({
  name: "list_subagents",
  description: "List subagents.",
  properties: {},
  required: [],
  isReadOnly: true,
  load: async () => (await import("./subagents.ts")).runListSubagentsTool,
});
