// Tau in your own process: node docs/examples/library.ts
import { createStream } from "@tau-agent/ai";
import { scriptedModel, scriptedProvider, toolCall, turn } from "@tau-agent/ai/testing";
import { createAgentSession } from "@tau-agent/coding-agent";

// For a real model, use `environment: process.env, model: "sonnet"` instead of `scripted`.
const provider = scriptedProvider([
  turn([toolCall("ls", {})]),
  turn("The first thing here is {{1}}.", { when: { lastToolResultMatches: "^(\\S+)" } }),
]);
const scripted = {
  model: scriptedModel(),
  stream: createStream({ providers: { scripted: async () => provider } }),
  apiKey: "none",
};
const cwd = process.cwd();
const session = await createAgentSession({ cwd, session: { kind: "memory" }, ...scripted });
session.subscribe((event) => {
  if (event.type === "tool_execution_start") console.log(`[${event.toolName}]`);
});
const { text, status } = await session.prompt("What is in this folder?");
console.log(text, `(${status}, ${session.stats.tokens.total} tokens)`);
await session.dispose();
