// Tests of an integration, without a key and a network: node --test docs/examples/testing.ts
import { equal, match } from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createStream, type Model, type StreamFunction } from "@tau-agent/ai";
import {
  overloaded,
  recordingFetch,
  replayFetch,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { createAgentSession, SettingsStore } from "@tau-agent/coding-agent";

// What the scripted model decides. Everything around it is real: the tool reads a real file.
const scenario = [
  turn(toolCall("read", { path: "price.txt" })),
  turn("It costs {{1}}.", { when: { lastToolResultMatches: "price: (\\d+)" } }),
];

/** What you test: here a function that asks about a folder. */
async function askForPrice(model: Model, stream?: StreamFunction): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "price-"));
  await writeFile(join(cwd, "price.txt"), "price: 12\n");
  const session = await createAgentSession({
    cwd,
    session: { kind: "memory" },
    model,
    apiKey: "none",
    ...(stream && { stream }),
    settings: SettingsStore.inMemory({ "retry.baseDelayMs": 1 }),
  });
  const { status, text, error } = await session.prompt("What does it cost?");
  await session.dispose();
  return status === "completed" ? text : `${status}: ${error}`;
}

test("answers with what the tool found", async () => {
  await using server = await startLoopbackServer({ scenario });
  equal(await askForPrice(server.model("anthropic-messages")), "It costs 12.");
  // What the vendor received, as it was sent.
  equal(server.requests.length, 2);
  match(JSON.stringify(server.requests[1]?.body), /price: 12/);
});

test("goes on when the vendor is busy and a reply breaks off", async () => {
  const reset = { kind: "reset", when: "mid_stream" } as const;
  await using server = await startLoopbackServer({ scenario, faults: [overloaded(), reset] });
  equal(await askForPrice(server.model("openai-responses")), "It costs 12.");
  equal(server.requestCount, 4);
});

test("says why when a key is refused", async () => {
  const refused = { kind: "status", status: 401 } as const;
  await using server = await startLoopbackServer({ scenario, faults: () => refused });
  match(await askForPrice(server.model("openai-completions")), /^error: .*key/i);
});

test("answers from a recording", async () => {
  const directory = await mkdtemp(join(tmpdir(), "recording-"));
  const send = createStream();
  const over = (fetch: typeof globalThis.fetch): StreamFunction => {
    return (model, context, options) => send(model, context, { ...options, fetch });
  };
  // Once, with a real model and its key; this server stands in for the vendor.
  await using server = await startLoopbackServer({ scenario });
  const model = server.model("anthropic-messages");
  await askForPrice(model, over(recordingFetch({ directory })));
  await server.close();
  // From then on, nothing leaves the machine.
  equal(await askForPrice(model, over(replayFetch({ directory }))), "It costs 12.");
});
