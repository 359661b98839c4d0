import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { expect, test } from "vitest";
import { MemorySessionStore } from "../../../sessions/src/stores/memory/memory-session-store.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";
import { project, scenario } from "../subagents/task-tool/__fixtures__/task-call.ts";

const key = { projectKey: "project", sessionId: "shared" };

function open(
  store: MemorySessionStore,
  turns: Scenario,
  places: CreateAgentSessionOptions = placesIn(temporaryFolder()),
) {
  const session = { kind: "id", id: key.sessionId } as const;
  return createTestSession(turns, { ...places, store, projectKey: key.projectKey, session });
}

const bash = (command: string) => turn([toolCall("bash", { command })]);
const sha256 = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

function results(session: { messages: readonly { role: string }[] }): ToolResultMessage[] {
  return session.messages.filter((one): one is ToolResultMessage => one.role === "toolResult");
}

const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

function outputPath(session: Parameters<typeof results>[0]): string {
  return String(member(results(session).at(0)?.details, "fullOutputPath"));
}

async function withLongOutput(places = placesIn(temporaryFolder())) {
  const store = new MemorySessionStore();
  const first = await open(store, [bash("seq 1 20000"), "done"], places);
  await first.session.prompt("count");
  const path = outputPath(first.session);
  const bytes = readFileSync(path);
  await first.session.dispose();
  return { store, places, path, bytes };
}

test("stores a full output as a blob, and restores it where it is missing", async () => {
  const { store, places, path, bytes } = await withLongOutput();
  expect(await store.getBlob(key, sha256(bytes))).toEqual(new Uint8Array(bytes));
  rmSync(path);
  const read = turn([toolCall("read", { path, offset: 19_990 })]);
  const { session } = await open(store, [read, "read it"], places);
  expect(readFileSync(path).equals(bytes)).toBe(true);
  await session.prompt("read it");
  expect(JSON.stringify(results(session).at(-1))).toContain("19995");
});

test("adapts paths to a machine with another temporary folder", async () => {
  const { store, path, bytes } = await withLongOutput();
  const elsewhere = placesIn(temporaryFolder());
  rmSync(path);
  const { session } = await open(store, ["done"], elsewhere);
  const here = outputPath(session);
  expect(here.startsWith(`${elsewhere.temporaryDirectory}/pi-bash-`)).toBe(true);
  expect(readFileSync(here).equals(bytes)).toBe(true);
  expect(JSON.stringify(results(session))).not.toContain(path);
  expect(existsSync(path)).toBe(false);
});

test("restores a file that disappears while the session is open, for the call that names it", async () => {
  const store = new MemorySessionStore();
  let path = "";
  const { session } = await open(store, ({ messages }) => {
    if (messages.at(-1)?.role === "user")
      return path ? bash(`tail -1 ${path}`) : bash("seq 1 20000");
    return "done";
  });
  await session.prompt("count");
  path = outputPath(session);
  rmSync(path);
  await session.prompt("show the end");
  expect(results(session).at(-1)?.content).toEqual([{ type: "text", text: "20000\n" }]);
});

test("gives a fork the files of its original session", async () => {
  const { store, places, path, bytes } = await withLongOutput();
  rmSync(path);
  const { session } = await createTestSession(["done"], {
    ...places,
    store,
    projectKey: key.projectKey,
    session: { kind: "fork", from: key.sessionId, id: "copy" },
  });
  await session.prompt("go on");
  const copy = { ...key, sessionId: "copy" };
  expect(await store.getBlob(copy, sha256(bytes))).toEqual(new Uint8Array(bytes));
});

test("stores entries as in a session file, except for the member that locates files", async () => {
  const { store } = await withLongOutput();
  const lines = (await store.load(key)) ?? [];
  const { session } = await open(store, ["done"]);
  const { entries } = session.navigation.entries();
  const stripped = lines.slice(1).map(({ storedFiles: _, ...entry }) => Object.keys(entry));
  expect(entries.slice(0, stripped.length).map((entry) => Object.keys(entry))).toEqual(stripped);
  expect(lines.filter((line) => "storedFiles" in line)).toHaveLength(1);
});

const soundServer = `
const reader = require("node:readline").createInterface({ input: process.stdin });
const tools = [{ name: "speak", description: "Speaks", inputSchema: { type: "object" } }];
const content = [{ type: "audio", mimeType: "audio/wav", data: Buffer.from("a sound").toString("base64") }];
reader.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const results = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "sound", version: "1" } }),
    "tools/list": () => ({ tools }),
    "tools/call": () => ({ content }),
  };
  const result = results[method]?.();
  if (id !== undefined && result) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
`;

test("stores content of an MCP server that no model reads as a blob", async () => {
  const store = new MemorySessionStore();
  const { session } = await createTestSession([turn([toolCall("mcp__sound__speak", {})]), "done"], {
    mcpServers: { sound: { command: process.execPath, args: ["-e", soundServer] } },
    store,
    projectKey: key.projectKey,
    session: { kind: "id", id: key.sessionId },
  });
  await session.prompt("speak");
  expect(JSON.stringify(results(session))).toContain("is in ");
  const bytes = await store.getBlob(key, sha256(Buffer.from("a sound")));
  expect(Buffer.from(bytes ?? []).toString()).toBe("a sound");
});

test("uploads only files that the host itself put into the temporary folder", async () => {
  const store = new MemorySessionStore();
  const places = placesIn(temporaryFolder());
  const secret = join(places.temporaryDirectory ?? "", "auth.json");
  writeFileSync(secret, "the key");
  const tool = {
    name: "liar",
    label: "Liar",
    description: "Names a file",
    parameters: { type: "object" as const, properties: {} },
    execute: async () => ({
      content: [{ type: "text" as const, text: "ok" }],
      details: { fullOutputPath: secret },
    }),
  };
  const { session } = await createTestSession([turn([toolCall("liar", {})]), "done"], {
    ...places,
    customTools: [tool],
    store,
    projectKey: key.projectKey,
    session: { kind: "id", id: key.sessionId },
  });
  await session.prompt("go");
  expect(results(session)).toHaveLength(1);
  expect(await store.getBlob(key, sha256(Buffer.from("the key")))).toBeNull();
  expect(JSON.stringify(await store.load(key))).not.toContain("storedFiles");
});

test.each([
  "../escape/pi-bash-1.log",
  "pi-bash-1/../../../escape.log",
  "/etc/pi-bash-1.log",
  "project/hook.log",
  "pi-bash-\u0000.log",
])("does not let a store make the host write %j", async (name) => {
  const { store, places } = await withLongOutput();
  const lease = await store.acquire(key, 60_000);
  const { id, size } = await store.putBlob(key, Buffer.from("planted"));
  const path = join(places.temporaryDirectory ?? "", "planted");
  const entry = { type: "custom", id: "planted", parentId: null, customType: "x" };
  const storedFiles = [{ path, name, blobs: [id], size }];
  const timestamp = new Date().toISOString();
  await store.append(key, [{ ...entry, timestamp, storedFiles }], lease);
  await store.release(lease);
  const before = listing(places);
  await open(store, ["done"], places);
  expect(listing(places)).toEqual(before);
});

function listing({ temporaryDirectory = "" }: CreateAgentSessionOptions) {
  const names = readdirSync(temporaryDirectory, { recursive: true }).map(String);
  return names.filter((name) => !name.startsWith("agent")).sort();
}

const writes = (path: string) => turn([toolCall("write", { path, content: "new\n" })]);

async function withTasks() {
  const store = new MemorySessionStore();
  const places = project();
  const tasks = [
    { id: "a", task: "<a>" },
    { id: "b/1", task: "<b>" },
  ];
  const turns = scenario(
    { tasks, isolated: true },
    {
      a: (step) => (step === 0 ? writes("a2.txt") : step === 1 ? "a done" : "a answered again"),
      b: (step) => (step === 0 ? bash("seq 1 20000") : "b done"),
    },
  );
  const first = await open(store, turns, places);
  const events = first.events;
  await first.session.prompt("go");
  const [a, b] = member(results(first.session)[0]?.details, "results") as Record<string, string>[];
  await first.session.dispose();
  return { store, places, turns, events, a: a ?? {}, b: b ?? {} };
}

test("stores a subagent's log below the session, and restores its patch and outputs", async () => {
  const { store, places, a, b } = await withTasks();
  const part = await store.load({ ...key, subpath: "subagents/call/a" });
  expect(a.storedSession).toBe("shared/subagents/call/a");
  expect(b.storedSession).toBe("shared/subagents/call/b%2F1");
  expect(part?.[0]).toMatchObject({ type: "session" });
  expect(JSON.stringify(part)).toContain("a done");
  const patch = readFileSync(a.patchPath ?? "");
  const transcript = readFileSync(a.sessionFile ?? "", "utf8");
  const folder = join(a.sessionFile ?? "", "..", "..");
  rmSync(folder, { recursive: true });
  await open(store, ["done"], places);
  expect(readFileSync(a.patchPath ?? "").equals(patch)).toBe(true);
  expect(readFileSync(a.sessionFile ?? "", "utf8")).toBe(transcript);
  const log = await store.load({ ...key, subpath: "subagents/call/b%2F1" });
  const files = log?.find((line) => "storedFiles" in line)?.storedFiles as { path: string }[];
  expect(existsSync(files[0]?.path ?? "")).toBe(true);
});

test.each(["storedSession", "sessionFile"] as const)(
  "continues a subagent with a follow-up on another machine, by its %s",
  async (name) => {
    const { store, places, turns, a } = await withTasks();
    rmSync(join(a.sessionFile ?? "", "..", ".."), { recursive: true });
    const { session } = await open(store, turns, places);
    await session.navigation.switchSession(a[name] ?? "");
    expect(await session.prompt("and now?")).toMatchObject({ text: "a answered again" });
    const part = await store.load({ ...key, subpath: "subagents/call/a" });
    expect(JSON.stringify(part)).toContain("a answered again");
    expect(JSON.stringify(await store.load(key))).not.toContain("a answered again");
  },
);

test("reports the work of a lost host's subagents in the result of their call", async () => {
  const { store, places } = await withTasks();
  const lines = (await store.load(key)) ?? [];
  const call = lines.findIndex((line) => JSON.stringify(line).includes('"toolCall"'));
  // As if the host had died before the call had a result.
  const fresh = new MemorySessionStore();
  const copies = [
    key,
    ...["a", "b%2F1"].map((id) => ({ ...key, subpath: `subagents/call/${id}` })),
  ];
  for (const log of copies) {
    const lease = await fresh.acquire(log, 200);
    const all = (await store.load(log)) ?? [];
    await fresh.append(log, "subpath" in log ? all : all.slice(0, call + 1), lease);
    if (!("subpath" in log)) await fresh.release(lease);
  }
  const { session } = await open(fresh, ["done"], places);
  const [lost] = results(session);
  expect(lost).toMatchObject({ isError: true, details: { interrupted: true } });
  expect(member(lost?.details, "results")).toMatchObject([
    { id: "a", storedSession: "shared/subagents/call/a", used: { toolCalls: 1 } },
    { id: "b/1", storedSession: "shared/subagents/call/b%2F1" },
  ]);
  // The new host has taken over the leases of the dead host's subagents.
  const log = { ...key, subpath: "subagents/call/a" };
  await expect(
    fresh.append(log, [{ type: "custom", id: "late" }], { token: 1 }),
  ).rejects.toMatchObject({ code: "lease_lost" });
});

test("stores a subagent's messages before they are announced", async () => {
  const store = new MemorySessionStore();
  const turns = scenario(
    { task: "<a>" },
    { a: (step) => (step === 0 ? bash("echo hi") : "a done") },
  );
  const { session } = await open(store, turns, project());
  await session.setSubagentLevel("all");
  const said: string[] = [];
  const missing: unknown[] = [];
  session.subscribe(async (event) => {
    if (event.type !== "subagent_event" || event.event.type !== "message_end") return;
    const text = JSON.stringify(event.event.message);
    said.push(text);
    const part = await store.load({ ...key, subpath: "subagents/call/call" });
    if (!JSON.stringify(part).includes(text)) missing.push(event.event.message);
  });
  await session.prompt("go");
  expect(said.length).toBeGreaterThan(2);
  expect(missing).toEqual([]);
});

test("starts no subagent in a lost session", async () => {
  const store = new MemorySessionStore();
  const turns = scenario({ task: "<a>" }, { a: () => "a done" });
  const { session } = await open(store, turns, project());
  session.subscribe(async (event) => {
    if (event.type !== "tool_execution_start") return;
    // As if this host had been paused, and another had continued meanwhile.
    const token = { key, token: 1, owner: undefined, expiresAt: 0 };
    await store.release(token);
    await store.acquire(key, 60_000);
  });
  expect(await session.prompt("go")).toMatchObject({ status: "error" });
  expect(await store.load({ ...key, subpath: "subagents/call/call" })).toBeNull();
});
