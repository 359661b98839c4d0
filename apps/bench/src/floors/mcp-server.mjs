// An MCP server on stdio that does the least: one tool, which nobody calls.
import { createInterface } from "node:readline";

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "least", version: "1.0.0" },
  }),
  "tools/list": () => ({
    tools: [{ name: "nothing", description: "Does nothing.", inputSchema: { type: "object" } }],
  }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
