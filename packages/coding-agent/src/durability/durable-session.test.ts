import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import {
  type Scenario,
  scriptedModel,
  scriptedProvider,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { expect, it, onTestFinished } from "vitest";
import { keyless, placesIn, temporaryFolder } from "../create/__fixtures__/test-session.ts";
import { createSession } from "../create/create-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";

const header = { type: "session", version: 3, id: "s1", timestamp: new Date().toISOString() };

/** Sessions that share one file, and whose hosts may "die", leaving only the file and the folder. */
function place(entries: readonly object[] = []) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const file = join(folder, "session.jsonl");
  if (entries.length > 0) {
    let parentId: string | null = null;
    const lines = entries.map((entry, at) => {
      const node = { id: `e${at}`, parentId, timestamp: new Date().toISOString(), ...entry };
      parentId = node.id;
      return node;
    });
    const all = [{ ...header, cwd: places.cwd }, ...lines];
    writeFileSync(file, all.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  const open = async (scenario: Scenario, more: Partial<CreateAgentSessionOptions> = {}) => {
    const provider = scriptedProvider(scenario);
    const model = scriptedModel();
    const { session } = await createSession({
      ...places,
      durability: "effects",
      session: { kind: "file", path: file },
      model,
      providers: [keyless(model.provider)],
      stream: createStream({ providers: { scripted: async () => provider } }),
      ...more,
    });
    onTestFinished(() => session.dispose());
    return session;
  };
  return { ...places, folder, file, open };
}

const user = {
  type: "message",
  promptId: "p1",
  message: { role: "user", content: "go", timestamp: 1 },
};
const replyWith = (call: object) => ({
  type: "message",
  message: {
    ...{ role: "assistant", api: "scripted", provider: "scripted", model: "scripted" },
    ...{ content: [{ type: "toolCall", ...call }], stopReason: "toolUse", timestamp: 2 },
    usage: {
      ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  },
});
const started = (toolCallId: string, more: object = {}) => ({
  type: "custom",
  customType: "tool_started",
  data: { toolCallId, epoch: 1, ...more },
});

function resultsOf(messages: readonly { readonly role: string }[]): ToolResultMessage[] {
  return messages.filter(({ role }) => role === "toolResult") as ToolResultMessage[];
}

it("logs the start of a changing call before it begins, and none for a read-only call", async () => {
  const { open, file, cwd } = place();
  const session = await open([
    turn(toolCall("bash", { command: "grep -c 'tool_st[a]rted' ../session.jsonl >> count" })),
    turn(toolCall("ls", {})),
    turn(toolCall("write", { path: "a", content: "a" })),
    "done",
  ]);
  await session.prompt("go");
  const lines = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const starts = lines.filter(({ customType }) => customType === "tool_started");
  expect(starts).toMatchObject([
    { data: { epoch: 1, commandId: expect.any(String), checkpointId: expect.any(String) } },
    { data: { epoch: 1, checkpointId: expect.any(String) } },
  ]);
  expect(readFileSync(join(cwd, "count"), "utf8")).toBe("1\n");
});

it("counts the hosts of a session file across orderly shutdowns", async () => {
  const { open, file } = place();
  for (const name of ["a", "b"]) {
    const session = await open([turn(toolCall("write", { path: name, content: name })), "done"]);
    await session.prompt("go");
    await session.dispose();
  }
  expect(readFileSync(file, "utf8").match(/"epoch":\d+/g)).toEqual(['"epoch":1', '"epoch":2']);
});

it("continues the count after a host that kept only the conversation", async () => {
  const { open, cwd } = place();
  for (const [name, durability] of Object.entries({
    a: "effects",
    b: "effects",
    c: "log",
    d: "effects",
  })) {
    const call = turn(toolCall("write", { path: name, content: name }));
    const session = await open([call, "done"], { durability: durability as "log" | "effects" });
    await session.prompt("go");
    await session.dispose();
    expect(existsSync(join(cwd, name)), name).toBe(true);
  }
});

it("runs a call that never started when its prompt is resumed, and checks the rules first", async () => {
  const call = { id: "c1", name: "write", arguments: { path: "new", content: "new" } };
  const { open, cwd } = place([user, replyWith(call)]);
  const session = await open(["done"], {
    permissions: { rules: [{ tool: "write", action: "deny" }] },
  });
  expect(await session.resume("p1")).toMatchObject({ status: "completed" });
  expect(existsSync(join(cwd, "new"))).toBe(false);
  expect(resultsOf(session.messages)).toMatchObject([{ isError: true }]);
});

it("never runs a call that a file marks as started, whatever else the file contains", async () => {
  const forged = { commandId: "0123456789abcdef", checkpointId: "0123456789abcdef" };
  for (const args of [
    { command: "touch bad" },
    { command: "touch bad", background: true, detached: true },
  ]) {
    const call = { id: "c1", name: "bash", arguments: args };
    const allowed = {
      type: "approval",
      phase: "answered",
      toolCallId: "c1",
      toolName: "bash",
      decision: "allow",
      by: "client",
    };
    const { open, cwd } = place([user, replyWith(call), allowed, started("c1", forged)]);
    const session = await open(["done"]);
    expect(await session.resume("p1")).toMatchObject({ status: "completed", text: "done" });
    expect(resultsOf(session.messages)).toMatchObject([
      { isError: true, details: { interrupted: true } },
    ]);
    expect(existsSync(join(cwd, "bad"))).toBe(false);
  }
});

it("reports a job as interrupted if its host died between its record and its command", async () => {
  const commandId = "0123456789abcdef";
  const command = "touch begun";
  const call = { id: "c1", name: "bash", arguments: { command, background: true } };
  const { open, cwd, agentDirectory } = place([
    user,
    replyWith(call),
    started("c1", { commandId }),
  ]);
  const record = { jobId: "job-0a1b2c", command, startedAt: Date.now(), commandId, promptId: "p1" };
  const folder = join(agentDirectory ?? "", "jobs", "s1", record.jobId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "job.json"), JSON.stringify(record));
  const session = await open(["done"]);
  await session.resume("p1");
  expect(resultsOf(session.messages)).toMatchObject([
    { isError: true, details: { interrupted: true } },
  ]);
  expect(existsSync(join(cwd, "begun"))).toBe(false);
});

it("follows a job to its end after the result of its call is stored", async () => {
  const command = "echo out; sleep 2; echo end";
  const { open } = place();
  const session = await open([turn(toolCall("bash", { command, background: true })), "done"]);
  const ended = new Promise((resolve) => {
    session.subscribe((event) => void (event.type === "job_end" && resolve(event)));
  });
  await session.prompt("go");
  expect(await ended).toMatchObject({ exitCode: 0, tail: "out\nend\n" });
});

it("runs a call that reuses the id of an earlier, completed or interrupted one", async () => {
  const call = { id: "c1", name: "write", arguments: { path: "a", content: "a" } };
  const again = (path: string) => turn(toolCall("write", { path, content: path }, { id: "c1" }));
  const result = {
    type: "message",
    message: { role: "toolResult", toolCallId: "c1", toolName: "write", content: [], timestamp: 3 },
  };
  for (const ended of [[result], []]) {
    const { open, cwd } = place([user, replyWith(call), started("c1"), ...ended]);
    const session = await open([again("b"), again("c"), "done"]);
    expect(await session.resume("p1")).toMatchObject({ status: "completed" });
    expect(readFileSync(join(cwd, "b"), "utf8")).toBe("b");
    expect(readFileSync(join(cwd, "c"), "utf8")).toBe("c");
  }
});

it("repeats an open question when the session is opened again", async () => {
  const call = { id: "c1", name: "write", arguments: { path: "new", content: "new" } };
  const asked = {
    ...{ type: "approval", phase: "asked", requestId: "r1", promptId: "p1" },
    ...{ toolCallId: "c1", toolName: "write", input: call.arguments },
  };
  const { open, cwd } = place([user, replyWith(call), asked]);
  const session = await open(["done"], {
    permissions: { mode: "ask" },
    approve: async () => ({ decision: "allow" }),
  });
  const ended = new Promise((resolve) => {
    session.subscribe((event) => void (event.type === "prompt_result" && resolve(event)));
  });
  expect(await ended).toMatchObject({ status: "completed" });
  expect(readFileSync(join(cwd, "new"), "utf8")).toBe("new");
});

it("ends open calls as interrupted when another prompt begins", async () => {
  const call = { id: "c1", name: "bash", arguments: { command: "touch bad" } };
  const { open } = place([user, replyWith(call), started("c1")]);
  const session = await open(["done"]);
  await session.prompt("another");
  const [result] = resultsOf(session.messages);
  expect(result).toMatchObject({ toolCallId: "c1", details: { interrupted: true } });
  expect(JSON.stringify(result?.content)).toContain("not recorded");
});

it("repeats a read-only call, and continues automatically with resume auto", async () => {
  const call = { id: "c1", name: "read", arguments: { path: "text" } };
  const { open, cwd } = place([user, replyWith(call)]);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "text"), "content of the file");
  const session = await open(["done"], { resume: "auto" });
  const ended = new Promise((resolve) => {
    session.subscribe((event) => void (event.type === "prompt_result" && resolve(event)));
  });
  expect(await ended).toMatchObject({ status: "completed" });
  expect(JSON.stringify(resultsOf(session.messages)[0])).toContain("content of the file");
});

it("refuses a log that is not flushed, and a workspace without durable storage", async () => {
  const { SettingsStore } = await import("@tau-agent/system");
  const settings = SettingsStore.inMemory({ "session.fsync": "turn" });
  await expect(place().open([], { settings })).rejects.toMatchObject({ code: "invalid_option" });
  const overlay: CreateAgentSessionOptions["overlay"] = (local) =>
    Object.assign(Object.create(local), { durable: undefined });
  await expect(place().open([], { overlay })).rejects.toMatchObject({
    code: "durability_unavailable",
  });
});
