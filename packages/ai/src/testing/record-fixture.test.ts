import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createStream } from "../stream.ts";
import { loopbackApis } from "./loopback-api.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import { type FixtureInput, type FixtureRequest, recordFixture } from "./record-fixture.ts";
import { text, toolCall, turn } from "./scenario.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-record-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const key = "a-very-secret-key-0123456789";
const date = new Date("2026-11-22T00:00:00Z");

function requestFor(model: FixtureRequest["model"]): FixtureRequest {
  const auth = {
    apiKey: key,
    headers: { "x-team": "another-secret-of-the-team" },
    environment: { AZURE_OPENAI_BASE_URL: model.baseUrl },
  };
  const options = { maxTokens: 2048, sessionId: "record" };
  const secrets = ["another-secret-of-the-team"];
  return { model, prompt: "Read a.txt", options, auth, secrets, folder, date };
}

const read = (name: string) => readFileSync(join(folder, name), "utf8");
const plain = loopbackApis.filter((api) =>
  /^(?:anthropic-messages|bedrock|mistral|openai-|google-gen)/.test(api),
);

it.each(plain)("records an exchange over %s that replays unchanged", async (api) => {
  const scenario = [
    turn([text(`The key is ${key}.`, { chunkSize: 200 }), toolCall("read", { path: "a.txt" })]),
  ];
  await using server = await startLoopbackServer({ scenario });
  const message = await recordFixture(requestFor(server.model(api)));
  expect(message.stopReason).toBe("toolUse");
  const stream = api.startsWith("bedrock") ? "stream.bin" : "stream.sse";
  const names = ["events.jsonl", "input.json", "request.json", stream];
  expect(readdirSync(folder).sort()).toEqual(names);
  for (const name of names) {
    expect(read(name)).not.toContain(key);
    expect(read(name)).not.toContain("another-secret");
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
  const input: FixtureInput = JSON.parse(read("input.json"));
  expect(input.model.baseUrl).toMatch(/^https:\/\/vendor\.invalid\//);
  expect(input.provenance).toMatch(/loopback on 2026-11-22/);
  const fetch = async () => new Response(readFileSync(join(folder, stream)), input.response);
  let calls = 0;
  const ask = createStream({ now: () => 0, createToolCallId: () => `call_${++calls}` });
  const reply = ask(input.model, input.context, { apiKey: "key", ...input.options, fetch });
  const lines: string[] = [];
  let next = await reply.next();
  for (; !next.done; next = await reply.next()) {
    const { partial: _, ...event } = { partial: undefined, ...next.value };
    lines.push(JSON.stringify(event));
  }
  expect(`${lines.join("\n")}\n`).toBe(read("events.jsonl"));
  expect(next.value.message.content).toEqual(
    JSON.parse(JSON.stringify(message.content).replaceAll(key, "x".repeat(key.length))),
  );
});

it("records a refusal of the vendor", async () => {
  const fault = { kind: "status", status: 429, message: `Too often, ${key}` } as const;
  await using server = await startLoopbackServer({ scenario: [turn("x", { fault })] });
  const { stopReason } = await recordFixture(requestFor(server.model("openai-completions")));
  expect(stopReason).toBe("error");
  expect(JSON.parse(read("input.json"))).toMatchObject({ response: { status: 429 } });
  expect(read("stream.sse")).toContain("Too often, xxxx");
});

it("overwrites nothing, and records nothing if there is no server", async () => {
  await using server = await startLoopbackServer({ scenario: ["Hi."] });
  const model = server.model("openai-completions");
  const gone = { ...model, baseUrl: "http://127.0.0.1:1/v1" };
  await expect(recordFixture(requestFor(gone))).rejects.toThrow();
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(join(folder, "mine.txt"), "");
  await expect(recordFixture(requestFor(model))).rejects.toThrow(/is not empty/);
  expect(server.requestCount).toBe(0);
});
