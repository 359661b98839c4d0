// A session with custom tools: node docs/examples/custom-tool.ts
import { createStream } from "@tau-agent/ai";
import { scriptedModel, scriptedProvider, toolCall, turn } from "@tau-agent/ai/testing";
import { createAgentSession, defineTool } from "@tau-agent/coding-agent";
import { z } from "zod";

const provider = scriptedProvider([
  turn([toolCall("ticket", { number: 7 }), toolCall("close_ticket", { number: 7 })]),
  turn("Ticket 7 is {{1}} now.", { when: { lastToolResultMatches: "is now (\\w+)" } }),
]);

// A zod schema types the arguments and applies its defaults and transforms.
const ticket = defineTool({
  name: "ticket",
  description: "Look up a ticket of the issue tracker.",
  parameters: z.object({
    number: z.number().int().describe("The ticket's number"),
    project: z.string().default("core"),
  }),
  isReadOnly: true,
  execute: async ({ number, project }) => {
    const found = { project, number, state: "open", title: "Round half a cent up" };
    return { content: [{ type: "text", text: JSON.stringify(found) }] };
  },
});

// With JSON Schema, including TypeBox, you declare the type of the arguments.
const closeTicket = defineTool<{ number: number }>({
  name: "close_ticket",
  description: "Close a ticket of the issue tracker.",
  parameters: {
    type: "object",
    properties: { number: { type: "number" } },
    required: ["number"],
  },
  execute: async ({ number }, { signal }) => {
    signal.throwIfAborted();
    return { content: [{ type: "text", text: `Ticket ${number} is now closed` }] };
  },
});

const session = await createAgentSession({
  cwd: process.cwd(),
  session: { kind: "memory" },
  // For a real model, use `environment: process.env, model: "sonnet"` instead of these three.
  model: scriptedModel(),
  stream: createStream({ providers: { scripted: async () => provider } }),
  apiKey: "none",
  tools: { only: ["read", "ticket", "close_ticket"] },
  customTools: [ticket, closeTicket],
});
await session.prompt("Close ticket 7, please");
console.log(session.lastAssistantText);
await session.dispose();
