import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { toolRow } from "../common/tool-row.ts";

export const editTool = toolRow({
  name: "edit",
  description: "Replace text in a file. oldText must match exactly and once; keep it short.",
  properties: {
    path: { type: "string" },
    oldText: { type: "string" },
    newText: { type: "string" },
    edits: {
      type: "array",
      description: "Several, each found in the original file",
      items: {
        type: "object",
        properties: {
          oldText: { type: "string" },
          newText: { type: "string" },
        },
        required: ["oldText", "newText"],
      },
    },
  },
  required: ["path"],
  prepareArguments: prepareEditArguments,
  writtenPath: async ({ path }, environment) => {
    const { existingPath } = await import("../common/paths.ts");
    const file = await existingPath(String(path), environment);
    return environment.fileQueue.keyOf(file, environment.workspace.id);
  },
  load: async () => (await import("./edit.ts")).runEditTool,
});

/** Accepts `edits` as JSON text or as a single object, because some models send them that way. */
function prepareEditArguments(received: Record<string, unknown>): Record<string, unknown> {
  const edits = parsed(received.edits);
  if (edits === undefined || edits === null) {
    const { edits: _, ...rest } = received;
    return rest;
  }
  const list = (Array.isArray(edits) ? edits : [edits]).map(parsed);
  return { ...received, edits: list };
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value.trim() === "" ? undefined : parseJson(value, value);
}
