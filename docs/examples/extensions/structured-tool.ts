// A tool whose result is also available as data, for programs that read the session.
import { Type } from "@sinclair/typebox";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function structuredTool(pi: ExtensionApi): void {
  pi.registerTool({
    name: "add",
    description: "Adds two numbers.",
    parameters: Type.Object({ a: Type.Number(), b: Type.Number() }),
    async execute(_id, { a, b }: { a: number; b: number }) {
      const sum = a + b;
      return { content: [{ type: "text", text: `${sum}` }], structuredContent: { sum } };
    },
  });
}
