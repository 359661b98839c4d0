// An answer as data: node docs/examples/structured-output.ts
import { createStream } from "@tau-agent/ai";
import { scriptedModel, scriptedProvider, toolCall, turn } from "@tau-agent/ai/testing";
import { createAgentSession } from "@tau-agent/coding-agent";
import { z } from "zod";

// For a real model, use `environment: process.env, model: "sonnet"` instead of these.
const provider = scriptedProvider([
  turn(toolCall("grep", { pattern: "TODO" })),
  '{"todos": 3}',
  '{"todos": [{"file": "main.ts", "text": "name it"}]}',
]);
const session = await createAgentSession({
  cwd: import.meta.dirname,
  session: { kind: "memory" },
  model: scriptedModel(),
  stream: createStream({ providers: { scripted: async () => provider } }),
  apiKey: "none",
});

const Todo = z.object({ file: z.string(), text: z.string() });
const result = await session.prompt("List the TODOs of this project.", {
  outputSchema: z.object({ todos: z.array(Todo) }),
});
if (result.outputStatus === "valid") {
  // `output` has the type of the schema.
  for (const { file, text } of result.output?.todos ?? []) console.log(`${file}: ${text}`);
} else {
  console.log(`${result.outputStatus}: ${result.error ?? result.text}`);
}
console.log(`attempts: ${result.outputAttempts}`);
await session.dispose();
