// An MCP server on stdio that does the minimum: with the arguments `[tools] [file]`, it offers this many
// tools without effect (by default 1) and answers once the file exists.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [number = "1", file] = process.argv.slice(2);
const count = Number(number);
const inputSchema = { type: "object", properties: { id: { type: "string" } } };
const tools = Array.from({ length: count }, (_, index) => ({
  name: count === 1 ? "nothing" : `nothing_${index}`,
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
while (file !== undefined && !existsSync(file)) await sleep(20);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
