// An MCP server on stdio that does the least: `[tools] [delay]` tools, 1 by default, which do nothing,
// after so many ms.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [count = 1, delay = 0] = process.argv.slice(2).map(Number);
const inputSchema = { type: "object", properties: { id: { type: "string" } } };
const tools = Array.from({ length: count }, (_, number) => ({
  name: count === 1 ? "nothing" : `nothing_${number}`,
  description: "Does nothing.",
  inputSchema: count === 1 ? { type: "object" } : inputSchema,
}));
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "least", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `${name} did nothing.` }] }),
};
await sleep(delay);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
