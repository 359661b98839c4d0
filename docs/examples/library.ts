// Tau in your own process: node docs/examples/library.ts
import { createAgentSession } from "@tau-agent/coding-agent";

const session = await createAgentSession({
  cwd: process.cwd(),
  session: { kind: "memory" },
  // For a real model, use `environment: process.env, findLocalServers: true` instead.
  provider: "scripted",
});
session.subscribe((event) => {
  if (event.type === "tool_execution_start") console.log(`[${event.toolName}]`);
});
const { text, status } = await session.prompt("What is in this folder?");
console.log(text, `(${status}, ${session.stats.tokens.total} tokens)`);
await session.dispose();
