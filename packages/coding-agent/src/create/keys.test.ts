import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import type { SettingValues } from "../settings/schema.ts";
import { SettingsStore } from "../settings/store.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

const stored = "stored-key-0123456789";
const token = "token-0123456789abcdef";
const named = "named-key-9876543210";

/** A session whose user has keys, with a model that plays the scenario. */
async function sessionWithKeys(scenario: Scenario, settings: SettingValues) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const agent = join(folder, "agent");
  mkdirSync(agent);
  writeFileSync(join(agent, "auth.json"), JSON.stringify({ x: { type: "api_key", key: stored } }));
  writeFileSync(join(agent, "rpc-token"), `${token}\n`);
  const providers = { y: { baseUrl: "http://127.0.0.1:9", apiKey: "$CORP_KEY", models: [] } };
  writeFileSync(join(agent, "models.json"), JSON.stringify({ providers }));
  symlinkSync(join(agent, "auth.json"), join(places.cwd, "link"));
  linkSync(join(agent, "auth.json"), join(places.cwd, "hard"));
  writeFileSync(join(places.cwd, "notes.txt"), `key=${stored} and ${named}\n`);
  return createTestSession(scenario, {
    ...places,
    environment: { PATH: process.env.PATH, CORP_KEY: named, PLAIN: "plain-value-0123456789" },
    settings: SettingsStore.inMemory(settings),
  });
}

/** Calls one tool in such a session; returns everything written, and the result. */
async function call(name: string, args: Record<string, unknown>, settings: SettingValues = {}) {
  const test = await sessionWithKeys([turn(toolCall(name, args)), "done"], settings);
  await test.session.prompt("go");
  const result = test.session.messages.find(({ role }) => role === "toolResult");
  const everything = JSON.stringify([test.written(), test.events]);
  return { everything, text: JSON.stringify(result) };
}

it.each([
  ["read", { path: "../agent/auth.json" }],
  ["read", { path: "link" }],
  ["read", { path: "hard" }],
  ["read", { path: "~/agent/rpc-token" }],
  ["edit", { path: "link", oldText: "stored", newText: "x" }],
  ["write", { path: "../agent/mcp-auth.json", content: "{}" }],
  ["grep", { path: "link", pattern: "key" }],
])("%s never opens files with keys: %o", async (name, args) => {
  const { text, everything } = await call(name, args, { "tools.maskKeys": false });
  expect(text).toContain("holds keys and is not opened");
  expect(everything).not.toContain(stored);
  expect(everything).not.toContain(token);
});

it("grep leaves files with keys out of a search of the folders above", async () => {
  const found = await call(
    "grep",
    { path: "~", pattern: "stored-key" },
    { "tools.maskKeys": false },
  );
  expect(found.text).toContain("notes.txt");
  expect(found.text).not.toContain("auth.json");
  expect(found.text).not.toContain("hard");
});

it.each([
  ["read", { path: "notes.txt" }],
  ["bash", { command: "cat ../agent/auth.json ../agent/rpc-token notes.txt; exit 3" }],
])("known keys are replaced in what %s says before it is written or sent", async (name, args) => {
  const { everything, text } = await call(name, args);
  expect(text).toContain("[redacted]");
  for (const key of [stored, token, named]) expect(everything).not.toContain(key);
});

it("known keys are shown when the setting says so", async () => {
  const { text } = await call("read", { path: "notes.txt" }, { "tools.maskKeys": false });
  expect(text).toContain(stored);
});

it("commands do not inherit variables that models.json names", async () => {
  const { text } = await call("bash", { command: "env" }, { "tools.maskKeys": false });
  expect(text).toContain("plain-value");
  expect(text).not.toContain(named);
});

/** Prints a key in two pieces, one to each stream, and more than a result shows. */
const leak = `${inPieces(stored)}; seq 1 4000; sleep 0.1; printf ${named.slice(0, 7)}; sleep 0.1; printf ${named.slice(7)} >&2; sleep 0.1; seq 1 3000; cat ../agent/rpc-token`;

function inPieces(key: string): string {
  return `printf ${key.slice(0, 7)}; sleep 0.1; printf ${key.slice(7)}; sleep 0.1; echo`;
}

it("known keys are replaced in the file of a long output, too", async () => {
  const { everything, text } = await call("bash", { command: leak });
  const [, path = ""] = /Full output: ([^\]"]+)/.exec(text) ?? [];
  const whole = readFileSync(path, "utf8");
  expect(whole.startsWith("[redacted]\n1\n2\n")).toBe(true);
  expect(whole).toContain("4000\n[redacted]1\n");
  expect(whole.endsWith("3000\n[redacted]\n")).toBe(true);
  for (const key of [stored, token, named]) expect(whole + everything).not.toContain(key);
});

it("known keys are replaced in what a client's command says, as it says it and in its file", async () => {
  const { session, written } = await sessionWithKeys(["hello"], {});
  await session.prompt("go");
  const deltas: string[] = [];
  const result = await session.bash.run(leak, { onDelta: (delta) => void deltas.push(delta) });
  const whole = readFileSync(result.fullOutputPath ?? "", "utf8");
  expect(whole).toBe(deltas.join(""));
  expect(whole.match(/\[redacted\]/g)).toHaveLength(3);
  const everything = [whole, JSON.stringify([result, written()])].join("");
  for (const key of [stored, token, named]) expect(everything).not.toContain(key);
});

it("keys in what a client's command says are shown when the setting says so", async () => {
  const { session } = await sessionWithKeys([], { "tools.maskKeys": false });
  expect((await session.bash.run("cat notes.txt")).output).toContain(stored);
});
