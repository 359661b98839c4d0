import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { expect, it } from "vitest";
import type { SettingValues } from "../../../system/src/settings/schema.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

const stored = "stored-key-0123456789";
const token = "token-0123456789abcdef";
const named = "named-key-9876543210";
const written = "written-key-0123456789";
const header = "header-token-0123456789";
const ofServer = "server-variable-0123456789";
const ofListener = "listener-token-0123456789";

/** A session whose user has keys, with a model that plays the scenario. */
async function sessionWithKeys(scenario: Scenario, settings: SettingValues) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const agent = join(folder, "agent");
  mkdirSync(agent);
  writeFileSync(join(agent, "auth.json"), JSON.stringify({ x: { type: "api_key", key: stored } }));
  writeFileSync(join(agent, "rpc-token"), `${token}\n`);
  const providers = { y: { baseUrl: "http://127.0.0.1:9", apiKey: "$CORP_KEY", models: [] } };
  const other = { baseUrl: "http://127.0.0.1:9", apiKey: written, models: [] };
  const models = JSON.stringify({ providers: { ...providers, z: other } });
  writeFileSync(join(agent, "models.json"), `// mine\n${models}`);
  const server = {
    url: "http://127.0.0.1:9",
    headers: {
      Authorization: `Bearer ${header}`,
      "X-Corp": ["$", "{SERVER_TOKEN}"].join(""),
      Accept: "text/plain",
    },
  };
  writeFileSync(join(agent, "mcp.json"), JSON.stringify({ mcpServers: { server } }));
  writeFileSync(join(folder, "listener"), ofListener);
  symlinkSync(join(agent, "auth.json"), join(places.cwd, "link"));
  linkSync(join(agent, "auth.json"), join(places.cwd, "hard"));
  writeFileSync(join(places.cwd, "notes.txt"), `key=${stored} and ${named}\n`);
  return createTestSession(scenario, {
    ...places,
    environment: {
      PATH: process.env.PATH,
      CORP_KEY: named,
      SERVER_TOKEN: ofServer,
      PLAIN: "plain-value-0123456789",
    },
    settings: SettingsStore.inMemory(settings),
    secretFiles: [join(folder, "listener")],
    mcp: { isOff: true },
  });
}

/** Calls one tool in such a session, and returns everything written and the result. */
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
  ...["agent/models.json", "agent/mcp.json", "listener"].flatMap((path): [string, object][] => [
    ["read", { path: `~/${path}` }],
    ["grep", { path: `../${path}`, pattern: "0123" }],
    ["edit", { path: `~/${path}`, oldText: "0123", newText: "x" }],
    ["write", { path: `../${path}`, content: "{}" }],
  ]),
])("refuses to open files with keys in %s: %o", async (name, args) => {
  const { text, everything } = await call(name, { ...args }, { "tools.maskKeys": false });
  expect(text).toContain("holds keys and is not opened");
  for (const key of [stored, token, written, header, ofListener]) {
    expect(everything).not.toContain(key);
  }
});

it("leaves files with keys out of a grep in a parent folder", async () => {
  const found = await call(
    "grep",
    { path: "~", pattern: "stored-key" },
    { "tools.maskKeys": false },
  );
  expect(found.text).toContain("notes.txt");
  expect(found.text).not.toContain("auth.json");
  expect(found.text).not.toContain("hard");
  for (const key of [written, header, ofListener]) {
    // The session file contains the pattern itself, which must not match the key.
    const pattern = key.replace("9", "[9]");
    const other = await call("grep", { path: "~", pattern }, { "tools.maskKeys": false });
    expect(other.text).toContain("No matches found");
  }
});

it.each([
  ["read", { path: "notes.txt" }],
  ["bash", { command: "cat ../agent/auth.json ../agent/rpc-token notes.txt; exit 3" }],
])("masks known keys in the output of %s before it is written or sent", async (name, args) => {
  const { everything, text } = await call(name, args);
  expect(text).toContain("[redacted]");
  for (const key of [stored, token, named]) expect(everything).not.toContain(key);
});

it("shows known keys if the setting says so", async () => {
  const { text } = await call("read", { path: "notes.txt" }, { "tools.maskKeys": false });
  expect(text).toContain(stored);
});

it("masks keys of models.json and mcp.json in the output of a command", async () => {
  const { everything, text } = await call("bash", {
    command: "cat ../agent/models.json ../agent/mcp.json; exit 3",
  });
  expect(text).toContain("[redacted]");
  expect(text).toContain("text/plain");
  for (const key of [written, header]) expect(everything).not.toContain(key);
});

it("hides variables that models.json and mcp.json name from commands", async () => {
  const { text } = await call("bash", { command: "env" }, { "tools.maskKeys": false });
  expect(text).toContain("plain-value");
  expect(text).not.toContain(named);
  expect(text).not.toContain(ofServer);
  const settings = { "tools.maskKeys": false, "bash.inheritKeys": true };
  const inherited = await call("bash", { command: "env" }, settings);
  expect(inherited.text).toContain(named);
  expect(inherited.text).toContain(ofServer);
});

/** Prints a key in two pieces, one to each stream, and more lines than a result shows. */
const leak = `${inPieces(stored)}; seq 1 4000; sleep 0.1; printf ${named.slice(0, 7)}; sleep 0.1; printf ${named.slice(7)} >&2; sleep 0.1; seq 1 3000; cat ../agent/rpc-token`;

function inPieces(key: string): string {
  return `printf ${key.slice(0, 7)}; sleep 0.1; printf ${key.slice(7)}; sleep 0.1; echo`;
}

it("masks known keys in the file of a long output", async () => {
  const { everything, text } = await call("bash", { command: leak });
  const [, path = ""] = /Full output: ([^\]"]+)/.exec(text) ?? [];
  const whole = readFileSync(path, "utf8");
  expect(whole.startsWith("[redacted]\n1\n2\n")).toBe(true);
  expect(whole).toContain("4000\n[redacted]1\n");
  expect(whole.endsWith("3000\n[redacted]\n")).toBe(true);
  for (const key of [stored, token, named]) expect(whole + everything).not.toContain(key);
});

it("masks known keys in the output of a client's command, both live and in its file", async () => {
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

it("shows keys in the output of a client's command if the setting says so", async () => {
  const { session } = await sessionWithKeys([], { "tools.maskKeys": false });
  expect((await session.bash.run("cat notes.txt")).output).toContain(stored);
});
