import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolCall } from "@tau-agent/ai/testing";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { browse } from "../../../../packages/coding-agent/test/logins/login-server.ts";
import { bunPath, startBunClient } from "../support/bun/bun-client.ts";
import { memoryHost } from "../support/hosts.ts";
import { loginPlace, pageOf, stored } from "../support/login-place.ts";
import { makePlace, type Place } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";
import { TestClient } from "../support/test-client.ts";

/**
 * The clients of oh-my-pi as published in the registry, unchanged, under bun. The registry has neither
 * release 1.337 nor the client of pisces. Release 13.19 is the closest to both: it waits for `ready` like the
 * latter and has the methods of both.
 */
const clients = [
  { release: "13.19", index: import.meta.resolve("oh-my-pi-13"), protocol: "pisces" },
  { release: "18.3", index: import.meta.resolve("oh-my-pi-18"), protocol: "oh-my-pi-18" },
] as const;

const untitled = { title: "", requirements: [] };

/** Methods that users do not call. */
const internal = ["constructor"];

/** A client with its host; records the names of the methods that were called. */
async function startClient(index: string, protocol: string, place: Place, options: object = {}) {
  onTestFinished(() => place.remove());
  const client = await startBunClient(new URL("modes/rpc/rpc-client.ts", index), {
    cliPath: binPath,
    cwd: place.cwd,
    env: { ...place.variables, PI_RPC_PROTOCOL: protocol, PATH: withNode(place) },
    args: place.arguments.slice(2),
    ...options,
  });
  const called = new Set<string>();
  const call = (method: string, ...parameters: unknown[]) => {
    called.add(method);
    return client.call(method, ...parameters);
  };
  const unused = () =>
    client.methods.filter((name) => !called.has(name) && !internal.includes(name));
  return { ...client, call, unused, has: (name: string) => client.methods.includes(name) };
}

/** The client starts `bun <cliPath>`; the host runs on Node. */
function withNode({ folder, variables }: Place): string {
  const bun = join(folder, "bin", "bun");
  mkdirSync(dirname(bun), { recursive: true });
  writeFileSync(bun, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
  chmodSync(bun, 0o755);
  return `${dirname(bun)}:${variables.PATH}`;
}

const delegate = toolCall("task", { tasks: [{ id: "helper", task: "look around" }] });
const scenario = [
  { when: { lastUserIncludes: "delegate", hasToolResults: false }, content: [delegate] },
  { when: { lastUserIncludes: "delegate", hasToolResults: true }, content: "It looked around." },
  { when: { lastUserIncludes: "look around" }, content: "Nothing to see." },
  { when: { lastUserIncludes: "list", hasToolResults: false }, content: [toolCall("ls", {})] },
  { when: { lastUserIncludes: "list", hasToolResults: true }, content: "There is notes.txt." },
  { when: { lastUserIncludes: "slow" }, content: "A slow answer.", delayMs: 100 },
  { content: "Yes." },
] as const;

/** A tool of the client; `run-client.ts` runs it there. */
const ticket = {
  name: "ticket",
  label: "Ticket",
  description: "Looks up a ticket.",
  parameters: { type: "object", properties: { number: { type: "number" } }, required: ["number"] },
};

type Client = Awaited<ReturnType<typeof startClient>>;

/** Sends prompts and queued messages, and checks what listeners receive. */
async function converse({ call, has, methods, received }: Client): Promise<void> {
  for (const name of methods) if (name.startsWith("on")) await call(name);
  const events = (await call("promptAndWait", "list")) as { type: string }[];
  expect(events.map(({ type }) => type)).toContain("tool_execution_end");
  expect(await call("getLastAssistantText")).toBe("There is notes.txt.");
  const idle = call("waitForIdle");
  await call("prompt", "slow");
  await call("steer", "yes?");
  await call("followUp", "and?");
  await call("abort");
  await idle;
  const collected = call("collectEvents");
  await call("abortAndPrompt", "again?");
  expect(((await collected) as { type: string }[]).at(-1)?.type).toBe("agent_end");
  if (has("waitForSettled")) await call("waitForSettled");
  const heard = (listener: string) => received.filter((each) => each.listener === listener);
  expect(heard("onEvent").map(({ event }) => event.type)).toContain("agent_end");
  if (!has("onPromptResult")) return;
  expect(heard("onPromptResult").map(({ event }) => event.status)).toEqual([
    "completed",
    "aborted",
    "completed",
  ]);
  expect(heard("onSessionSettled").length).toBeGreaterThan(0);
}

/** Changes every setting of the session and checks the state. */
async function configure({ call, has }: Client): Promise<void> {
  const { model } = (await call("getState")) as { model: { provider: string; id: string } };
  expect(model).toMatchObject({ provider: "scripted" });
  expect(await call("setModel", model.provider, model.id)).toMatchObject({ id: model.id });
  expect(await call("getAvailableModels")).toContainEqual(
    expect.objectContaining({ id: model.id }),
  );
  // There is only one model.
  expect(await call("cycleModel")).toBeNull();
  await call("setThinkingLevel", "high");
  expect(await call("cycleThinkingLevel")).toMatchObject({ level: expect.any(String) });
  await call("setThinkingLevel", "off");
  if (has("getAvailableThinkingLevels"))
    expect(await call("getAvailableThinkingLevels")).toContain("off");
  await call("setSteeringMode", "all");
  await call("setFollowUpMode", "all");
  await call("setAutoCompaction", false);
  await call("setAutoRetry", false);
  expect(await call("abortRetry")).toBeUndefined();
  const changed = { steeringMode: "all", followUpMode: "all", autoCompactionEnabled: false };
  expect(await call("getState")).toMatchObject({ ...changed, thinkingLevel: "off" });
  if (has("setSubagentSubscription"))
    expect(await call("setSubagentSubscription", "events")).toBe("events");
  if (has("setEventFilter")) {
    expect(await call("setEventFilter", ["agent_end"])).toEqual(["agent_end"]);
    expect(await call("setEventFilter", null)).toBe(null);
  }
}

/** Uses commands, files and the session tree. */
async function browseSession({ call, has }: Client, folder: string): Promise<void> {
  expect(await call("bash", "echo one")).toMatchObject({ output: "one\n", exitCode: 0 });
  expect(await call("abortBash")).toBeUndefined();
  expect(await call("getSessionStats")).toMatchObject({ toolCalls: 1, toolResults: 1 });
  const page = (await call("exportHtml", join(folder, "page.html"))) as { path: string };
  expect(readFileSync(page.path, "utf8")).toContain("There is notes.txt.");
  const messages = (await call("getMessages")) as { role: string }[];
  expect(messages.slice(0, 3).map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
  if (has("getEntries")) {
    const { entries, leafId } = (await call("getEntries")) as {
      entries: { id: string }[];
      leafId: string;
    };
    expect(entries.at(-1)?.id).toBe(leafId);
    expect(await call("getEntries", entries.at(-2)?.id)).toEqual({
      entries: entries.slice(-1),
      leafId,
    });
    expect(await call("getTree")).toMatchObject({ leafId });
  }
  const { sessionFile } = (await call("getState")) as { sessionFile: string };
  const [first] = (await call("getBranchMessages")) as { entryId: string; text: string }[];
  expect(first).toMatchObject({ text: "list" });
  await expect(call("compact", "short")).rejects.toThrow(/\w/);
  expect(await call("branch", first?.entryId)).toMatchObject({ text: "list", cancelled: false });
  expect(await call("newSession")).toEqual({ cancelled: false });
  expect(await call("switchSession", sessionFile)).toEqual({ cancelled: false });
  expect(await call("getSessionStats")).toMatchObject({ toolCalls: 1 });
  await expect(call("switchSession", join(folder, "none.jsonl"))).rejects.toThrow(/none/);
}

/** Features that only the newer client has: subagents, pages, and aliases of existing methods. */
async function delegateWork({ call, received }: Client): Promise<void> {
  await expect(call("openSession", "/tmp")).rejects.toThrow(/--sessions/);
  await call("promptAndWait", "delegate");
  const [helper] = (await call("getSubagents")) as { sessionFile: string }[];
  expect(helper).toMatchObject({ id: "helper", index: 0, agent: "task", status: "completed" });
  const first = (await call("getSubagentMessages", { subagentId: "helper" })) as {
    nextByte: number;
    messages: { role: string }[];
  };
  expect(first).toMatchObject({ sessionFile: helper?.sessionFile, fromByte: 0, reset: false });
  expect(first.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const rest = { sessionFile: helper?.sessionFile, fromByte: first.nextByte };
  expect(await call("getSubagentMessages", rest)).toMatchObject({ entries: [], messages: [] });
  await expect(call("getSubagentMessages", { subagentId: "none" })).rejects.toThrow(/none/);
  const heard = (listener: string) =>
    received.flatMap((each) => (each.listener === listener ? [each.event] : []));
  expect(heard("onSubagentLifecycle")).toMatchObject([
    { id: "helper", agent: "task", status: "started" },
    { id: "helper", agent: "task", status: "completed" },
  ]);
  expect(heard("onSubagentEvent")).toContainEqual({
    id: "helper",
    event: expect.objectContaining({ type: "agent_end" }),
  });
  const progress = { progress: expect.objectContaining({ id: "helper", agent: "task" }) };
  expect(heard("onSubagentProgress")).toContainEqual(expect.objectContaining(progress));
  const all = (await call("getMessages")) as unknown[];
  const page = (await call("getMessagesPage", { limit: 2 })) as { nextCursor: string };
  expect(page).toMatchObject({ messages: all.slice(0, 2), totalMessages: all.length });
  const next = { cursor: page.nextCursor, limit: all.length };
  expect(await call("getMessagesPage", next)).toEqual({
    messages: all.slice(2),
    totalMessages: all.length,
  });
  await expect(call("getMessagesPage", { cursor: "none" })).rejects.toThrow(/cursor/);
  expect(await call("getAvailableCommands")).toEqual([]);
  expect(await call("setFastMode", true)).toEqual({ enabled: true, active: false });
  // The conversation is too short to summarize.
  expect(await call("handoff", "go on")).toBeNull();
}

describe.each(clients)(
  "the published RpcClient of oh-my-pi $release on the dialect $protocol",
  ({ index, protocol }) => {
    it("drives the host through all of its methods", async () => {
      const place = makePlace({ scenario: [...scenario, ...scenario, ...scenario] });
      const client = await startClient(index, protocol, place);
      const { call, has } = client;
      await call("start");
      await expect(call("start")).rejects.toThrow(/already started/);
      await converse(client);
      await configure(client);
      await browseSession(client, place.folder);
      if (has("getSubagents")) await delegateWork(client);
      if (has("login")) {
        expect(JSON.stringify(await call("getLoginProviders"))).toContain("github-copilot");
        await expect(call("login", "none")).rejects.toThrow(/none/);
      }
      if (has("setCustomTools")) expect(await call("setCustomTools", [ticket])).toEqual(["ticket"]);
      expect(await call("getStderr")).toBe("");
      await call("stop");
      await expect(call("getState")).rejects.toThrow(/not started/);
      // The older client cannot be restarted, with any host.
      if (has("waitForSettled")) {
        await call("start");
        expect(await call("getState")).toMatchObject({ isStreaming: false });
      }
      expect(client.unused()).toEqual([]);
    });

    it("receives a compaction and the error of a prompt", async () => {
      const long = { content: "word ".repeat(400), usage: { input: 9000, output: 500 } };
      const short = { content: "All in short." };
      const place = makePlace({
        scenario: [long, long, short, short],
        files: { "agent/settings.json": '{"compaction": {"keepRecentTokens": 100}}' },
      });
      const { call, has, received } = await startClient(index, protocol, place);
      await call("start");
      await call("promptAndWait", "one");
      await call("promptAndWait", "two");
      const summary = expect.stringContaining("All in short");
      expect(await call("compact")).toMatchObject({ summary });
      if (has("onPromptResult")) await call("onPromptResult");
      const events = (await call("promptAndWait", "three")) as Record<string, unknown>[];
      const { messages } = events.at(-1) as { messages: object[] };
      const errorMessage = expect.stringContaining("The scenario has no turn");
      expect(messages.at(-1)).toMatchObject({ stopReason: "error", errorMessage });
      if (!has("onPromptResult")) return;
      const error = { message: errorMessage, retryable: false };
      const result = { agentInvoked: true, status: "error", error, sessionSettled: true };
      expect(received.map(({ event }) => event)).toMatchObject([result]);
    });

    it("fails at once with the host's error text if the host cannot start", async () => {
      const place = makePlace();
      const { call } = await startClient(index, protocol, place, { args: ["-e", "none.ts"] });
      await expect(call("start")).rejects.toThrow(/none\.ts/);
    });

    it("drives a host that runs under bun, the client's default", async () => {
      const place = makePlace({ scenario: [...scenario] });
      const path = `${dirname(bunPath)}:${place.variables.PATH}`;
      const env = { ...place.variables, PI_RPC_PROTOCOL: protocol, PATH: path };
      const { call } = await startClient(index, protocol, place, { env });
      await call("start");
      await call("promptAndWait", "list");
      expect(await call("getLastAssistantText")).toBe("There is notes.txt.");
    });
  },
);

/** The command types in a release's published type declarations. */
function publishedCommands(index: string): readonly string[] {
  const types = readFileSync(new URL("modes/rpc/rpc-types.ts", index), "utf8");
  const [, union = ""] = /export type RpcCommand =([\s\S]*?)\n\n\/\/ =/.exec(types) ?? [];
  return [...union.matchAll(/\btype: "(\w+)"/g)].map(([, name = ""]) => name);
}

describe("the published types of oh-my-pi 18.3", () => {
  const [, { index, protocol }] = clients;

  it("contain no command that the host does not know", async () => {
    const names = publishedCommands(index);
    for (const name of [
      "prompt",
      "set_host_uri_schemes",
      "negotiate_protocol",
      "login",
      "set_todos",
    ])
      expect(names).toContain(name);
    await using client = new TestClient(await memoryHost({ ...untitled, dialect: protocol }));
    for (const type of names) {
      client.send({ id: type, type });
      const { error = "" } = await client.until({ type: "response", id: type });
      expect(error, type).not.toMatch(/unknown command/i);
    }
  });

  it("contain only commands that the client sends internally or not at all", async () => {
    const host = await memoryHost({ ...untitled, dialect: protocol });
    await using client = new TestClient(host);
    const ask = async (command: { type: string; [member: string]: unknown }) => {
      client.send({ id: command.type, ...command });
      return client.until({ type: "response", id: command.type });
    };
    expect(await ask({ type: "negotiate_protocol", protocolVersion: 1 })).toMatchObject({
      data: { protocolVersion: 1 },
    });
    const version = await ask({ type: "negotiate_protocol", protocolVersion: 2 });
    expect(version).toMatchObject({ success: false });
    expect(version.error).toContain("protocolVersion");
    const schemes = [{ scheme: "db", description: "Rows", writable: true, immutable: false }];
    expect(await ask({ type: "set_host_uri_schemes", schemes })).toMatchObject({
      data: { schemes: ["db"] },
    });
    expect(await ask({ type: "set_session_name", name: "Mine" })).toMatchObject({ success: true });
    expect(await ask({ type: "set_interrupt_mode", mode: "wait" })).toMatchObject({
      success: true,
    });
    const phases = [
      { id: "p", name: "Plan", tasks: [{ id: "t", content: "do", status: "pending" }] },
    ];
    expect(await ask({ type: "set_todos", phases })).toMatchObject({
      data: { todoPhases: [{ name: "Plan", tasks: [{ content: "do", status: "pending" }] }] },
    });
    expect(await ask({ type: "get_state" })).toMatchObject({
      data: { sessionName: "Mine", interruptMode: "wait" },
    });
  });
});

describe("a login with oh-my-pi's published client", () => {
  const [, { index, protocol }] = clients;

  beforeAll(() => {
    // The server's library logs advice for production use.
    for (const level of ["warn", "info"] as const) {
      vi.spyOn(console, level).mockImplementation(() => {});
    }
  });

  it("shows the page and its code, and resolves once the login is stored", async () => {
    const { place } = await loginPlace();
    const client = await startClient(index, protocol, place, { args: ["--no-session"] });
    const { call, received } = client;
    await call("start");
    const login = call("login", "github-copilot");
    const opened = () => received.find(({ listener }) => listener === "onOpenUrl")?.event;
    await expect.poll(opened).toBeDefined();
    const { url, instructions } = opened() as { url: string; instructions: string };
    const [, code] = /^Enter code: (\S+)$/.exec(instructions) ?? [];
    await browse(pageOf(url, code), code);
    expect(await login).toEqual({ providerId: "github-copilot" });
    expect(stored(place)["github-copilot"]?.access).toMatch(/./);
    const providers = await call("getLoginProviders");
    expect(providers).toContainEqual(
      expect.objectContaining({ id: "github-copilot", loggedIn: true }),
    );
  });
});

describe("tools of oh-my-pi's published client", () => {
  const [, { index, protocol }] = clients;
  const calls = (args: Record<string, unknown>) => [
    { when: { hasToolResults: false }, content: [toolCall("ticket", args)] },
    { when: { hasToolResults: true }, content: "Done." },
  ];

  it("are registered, called with live updates and replaced", async () => {
    const place = makePlace({ scenario: [...calls({ number: 7 }), ...calls({ number: "x" })] });
    const { call, received } = await startClient(index, protocol, place);
    await call("start");
    expect(await call("setCustomTools", [ticket])).toEqual(["ticket"]);
    await call("onEvent");
    await call("promptAndWait", "go");
    const ofTool = received.flatMap(({ event }) => (event.toolName === "ticket" ? [event] : []));
    expect(ofTool).toMatchObject([
      { type: "tool_execution_start", args: { number: 7 } },
      { type: "tool_execution_update", partialResult: text("half of it") },
      { type: "tool_execution_end", result: text('got {"number":7}'), isError: false },
    ]);
    await call("newSession");
    const events = (await call("promptAndWait", "again")) as { type: string; isError?: boolean }[];
    expect(events.filter(({ type }) => type === "tool_execution_end")).toMatchObject([
      { isError: true },
    ]);
    expect(await call("setCustomTools", [])).toEqual([]);
    const wrong = call("setCustomTools", [{ ...ticket, name: "a b" }]);
    await expect(wrong).rejects.toThrow(/tools\[0\]\.name/);
  });

  it("are cancelled when the run is aborted", async () => {
    const slow = { ...ticket, parameters: { type: "object" } };
    const place = makePlace({ scenario: calls({ wait: true }) });
    const { call, received } = await startClient(index, protocol, place);
    await call("start");
    await call("setCustomTools", [slow]);
    await call("onEvent");
    await call("prompt", "go");
    await expect
      .poll(() => received.map(({ event }) => event.type))
      .toContain("tool_execution_update");
    await call("abort");
    await expect
      .poll(() => received.filter(({ listener }) => listener === "cancelled"))
      .toMatchObject([{ event: { wait: true } }]);
    await expect
      .poll(() => received.filter(({ event }) => event.type === "tool_execution_end"))
      .toMatchObject([{ event: { toolName: "ticket", isError: true } }]);
  });
});

function text(said: string) {
  return { content: [{ type: "text", text: said }] };
}
