import { setTimeout as sleep } from "node:timers/promises";
import { type AgentTool, defineTool } from "@tau-agent/agent";

const parameters = { type: "object", properties: { path: { type: "string" } } };

/** A single pixel. */
const image =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Tools with the names that the replies call: one answers, one is slow, one fails. */
export const chaosTools: readonly AgentTool[] = [
  defineTool<{ path?: string }>({
    name: "read",
    description: "Reads",
    parameters,
    isReadOnly: true,
    async execute({ path = "" }) {
      const text = { type: "text" as const, text: `Contents of ${path.slice(0, 40)}` };
      if (path.length % 4 > 0) return { content: [text] };
      return { content: [text, { type: "image", data: image, mimeType: "image/png" }] };
    },
  }),
  defineTool({
    name: "bash",
    description: "Takes its time",
    parameters,
    async execute(_, { signal, onUpdate }) {
      onUpdate({ content: [{ type: "text", text: "half" }] });
      await sleep(2, undefined, { signal });
      return { content: [{ type: "text", text: "whole" }] };
    },
  }),
  defineTool({
    name: "edit",
    description: "Fails",
    parameters,
    async execute() {
      throw new Error("Could not edit");
    },
  }),
];
