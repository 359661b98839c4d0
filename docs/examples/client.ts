// Tau as a child process, with types: node docs/examples/client.ts
import { RpcClient } from "@tau-agent/rpc-client";

const client = new RpcClient({
  // For a real model, set a key such as ANTHROPIC_API_KEY and leave this out.
  provider: "scripted",
  session: "memory",
});
await client.start();
client.onEvent((event) => {
  if (event.type === "tool_execution_start") console.log(`[${event.toolName}]`);
});
const { text, status } = await client.promptAndWait("What is in this folder?");
const { tokens } = await client.getSessionStats();
console.log(text, `(${status}, ${tokens.total} tokens)`);
await client.stop();
