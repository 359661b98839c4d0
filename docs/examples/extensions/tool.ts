// A custom tool: the model sees its name, description and schema.
import { StringEnum } from "@mariozechner/pi-ai";
import { Type } from "@sinclair/typebox";
import type { ExtensionApi } from "@tau-agent/coding-agent";

const tones = ["plain", "loud"];

export default function greeting(pi: ExtensionApi): void {
  pi.registerTool<{ name: string; tone?: string }>({
    name: "greet",
    label: "Greet",
    description: "Greets somebody.",
    promptSnippet: "Greet somebody",
    parameters: Type.Object({
      name: Type.String({ description: "Whom to greet" }),
      tone: Type.Optional(StringEnum(tones)),
    }),
    async execute(_id, { name, tone }, _signal, onUpdate) {
      onUpdate?.({ content: [{ type: "text", text: "clearing my throat" }] });
      const text = `Hello, ${name}!`;
      return {
        content: [{ type: "text", text: tone === "loud" ? text.toUpperCase() : text }],
        details: { greeted: name },
      };
    },
  });
}
