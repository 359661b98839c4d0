// An MCP server with one tool, which returns its argument.
import { createInterface } from "node:readline";

const [, , text] = process.argv;
const tools = [{ name: "look_up", description: "Looks up", inputSchema: { type: "object" } }];
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "said", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text }] }),
};
for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
