// A tool that runs in the program that drives the host: node docs/examples/host-tools.ts
import { fileURLToPath } from "node:url";
import { defineTool, RpcClient } from "@tau-agent/rpc-client";
import { z } from "zod";

const ticket = defineTool({
  name: "ticket",
  description: "Look up a ticket of the issue tracker.",
  parameters: z.object({
    number: z.number().int().describe("The ticket's number"),
    project: z.string().default("core"),
  }),
  readOnly: true,
  execute: async ({ number, project }, { signal }) => {
    signal.throwIfAborted();
    return `Ticket ${project}-${number} is open.`;
  },
});

const client = new RpcClient({
  provider: "scripted",
  model: fileURLToPath(new URL("scenarios/ticket.json", import.meta.url)),
  args: ["--no-session"],
});
await client.start();
await client.setHostTools([ticket]);
const { text } = await client.promptAndWait("What about ticket 7?");
console.log(text);
await client.stop();
