// A tool, a command and a guard: tau -e ./first-extension.ts
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function notes(pi: ExtensionApi): void {
  // The model reads the description and the schema; the type of the arguments is yours.
  pi.registerTool<{ text: string }>({
    name: "note",
    label: "Note",
    description: "Adds a line to the notes of the project.",
    parameters: {
      type: "object",
      properties: { text: { type: "string", description: "The line" } },
      required: ["text"],
    },
    async execute(_id, { text }, _signal, _onUpdate, { cwd }) {
      await appendFile(join(cwd, "NOTES.md"), `- ${text}\n`);
      return { content: [{ type: "text", text: "Noted." }] };
    },
  });

  // A prompt "/notes" runs this, and asks no model.
  pi.registerCommand("notes", {
    description: "Shows the notes",
    async handler(_args, { cwd, ui }) {
      const text = await readFile(join(cwd, "NOTES.md"), "utf8").catch(() => "No notes yet");
      ui.notify(text, "info");
    },
  });

  // Before each call: the model reads the reason, and finds the better way.
  pi.on("tool_call", (event) => {
    if (event.toolName !== "write" || event.input.path !== "NOTES.md") return;
    return { block: true, reason: "NOTES.md is written with the tool note" };
  });
}
