// A custom provider and an extension: node docs/examples/own-provider.ts
import { fileURLToPath } from "node:url";
import { startLoopbackServer, toolCall, turn } from "@tau-agent/ai/testing";
import { createAgentSession, createCustomProvider, SessionError } from "@tau-agent/coding-agent";
import { createHostModules } from "@tau-agent/coding-agent/host-modules";

// Any server that speaks one of the four wire formats; this one plays a script.
const scenario = [turn([toolCall("greet", { name: "Ada" })]), turn("I have greeted Ada.")];
const server = await startLoopbackServer({ scenario });

// The fields are those of a provider in models.json.
const house = createCustomProvider("house", {
  baseUrl: server.urls["openai-completions"],
  api: "openai-completions",
  apiKey: "HOUSE_KEY",
  models: [{ id: "small", contextWindow: 32_000 }],
});
const options = {
  cwd: process.cwd(),
  session: { kind: "memory" },
  providers: [house],
  // The name in `apiKey` above is looked up here and nowhere else.
  environment: { PATH: process.env.PATH, HOUSE_KEY: "secret" },
  extensions: {
    onlyNamed: true,
    paths: [fileURLToPath(new URL("extensions/tool.ts", import.meta.url))],
    hostModules: async () => createHostModules({ cwd: process.cwd(), version: "1.0.0" }),
  },
} as const;

try {
  await createAgentSession({ ...options, model: "house/large" });
} catch (error) {
  if (!(error instanceof SessionError)) throw error;
  console.log(`${error.code}: ${error.message}`);
}

const session = await createAgentSession({ ...options, model: "house/small" });
for (const { severity, message } of session.diagnostics) console.log(`${severity}: ${message}`);
session.subscribe((event) => {
  if (event.type === "tool_execution_end") console.log(event.result.content[0]);
});
await session.prompt("Greet Ada");
console.log(session.lastAssistantText);
await session.dispose();
await server.close();
