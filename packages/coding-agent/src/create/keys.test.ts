import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import type { SettingValues } from "../settings/schema.ts";
import { SettingsStore } from "../settings/store.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

const stored = "stored-key-0123456789";
const token = "token-0123456789abcdef";
const named = "named-key-9876543210";

/** Calls one tool in a session whose user has keys; returns everything written, and the result. */
async function call(name: string, args: Record<string, unknown>, settings: SettingValues = {}) {
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
  const test = await createTestSession([turn(toolCall(name, args)), "done"], {
    ...places,
    environment: { PATH: process.env.PATH, CORP_KEY: named, PLAIN: "plain-value-0123456789" },
    settings: SettingsStore.inMemory(settings),
  });
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
