import { toolRow } from "../common/tool-row.ts";

/** The `edit` tool. */
export const editTool = toolRow({
  name: "edit",
  description:
    "Replace text in a file. The old text must match exactly, whitespace included, and be unique. " +
    "Give several changes of one file together in edits.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to edit, relative to the working directory" },
      oldText: { type: "string", description: "Text to replace; must be in the file exactly once" },
      newText: { type: "string", description: "Text to put in its place" },
      edits: {
        type: "array",
        description:
          "Several replacements instead of oldText and newText; each is looked up in the original " +
          "file, without overlaps",
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
  },
  promptSnippet: "Replace exact text in a file",
  promptGuidelines: [
    "Use edit for changes in existing files; keep oldText as short as it can be and still be unique.",
  ],
  prepareArguments: prepareEditArguments,
  writtenPath: async ({ path }, environment) => {
    const { resolveExistingPath } = await import("../common/paths.ts");
    return environment.fileQueue.keyOf(resolveExistingPath(String(path), environment));
  },
  load: async () => (await import("./edit.ts")).runEditTool,
});

/** Accepts `edits` as JSON text or as a single object, as some models send it. */
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
  if (value.trim() === "") return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
