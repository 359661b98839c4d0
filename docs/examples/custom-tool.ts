// A session with a tool of your own: node docs/examples/custom-tool.ts
import { createStream } from "@tau-agent/ai";
import { scriptedModel, scriptedProvider, toolCall, turn } from "@tau-agent/ai/testing";
import { createAgentSession } from "@tau-agent/coding-agent";

const provider = scriptedProvider([
  turn([toolCall("ticket", { number: 7 })]),
  turn("Ticket 7 is {{1}}.", { when: { lastToolResultMatches: '"state":"(\\w+)"' } }),
]);
const session = await createAgentSession({
  cwd: process.cwd(),
  session: { kind: "memory" },
  // For a real model put `environment: process.env, model: "sonnet"` in the place of these three.
  model: scriptedModel(),
  stream: createStream({ providers: { scripted: async () => provider } }),
  apiKey: "none",
  tools: { only: ["read", "ticket"] },
  customTools: [
    {
      name: "ticket",
      description: "Look up a ticket of the issue tracker.",
      parameters: {
        type: "object",
        properties: { number: { type: "number" } },
        required: ["number"],
      },
      isReadOnly: true,
      execute: async ({ number }) => {
        const ticket = { number, state: "open", title: "Round half a cent up" };
        return { content: [{ type: "text", text: JSON.stringify(ticket) }] };
      },
    },
  ],
});
await session.prompt("What is the state of ticket 7?");
console.log(session.lastAssistantText);
await session.dispose();
