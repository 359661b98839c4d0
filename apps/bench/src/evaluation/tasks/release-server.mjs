// An MCP server on stdio with one tool, which returns a fact that is in no file.
import { createInterface } from "node:readline";

const tool = {
  name: "code_name",
  description: "Tells the code name of a release.",
  inputSchema: {
    type: "object",
    properties: { version: { type: "string" } },
    required: ["version"],
  },
};
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "releases", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: { version } }) => ({
    content: [{ type: "text", text: version === "4.2" ? "halibut" : "There is no such release." }],
  }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.(params) ?? {} })}\n`,
  );
}
