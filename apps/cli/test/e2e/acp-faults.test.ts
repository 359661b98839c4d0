import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import { makeEditorPlace } from "../support/acp-editor.ts";
import { AcpLines } from "../support/acp-lines.ts";
import { areGone, isAlive } from "../support/start-host.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});
const say = (text: string) => [{ type: "text", text }];

/** An agent after `initialize`. */
async function start(scenario: Parameters<typeof makeEditorPlace>[0] = {}, capabilities = {}) {
  const place = makeEditorPlace(scenario);
  const agent = new AcpLines(place);
  await agent.initialize(capabilities);
  return { agent, place };
}

it("introduces itself in an empty home, whatever version the client requests", async () => {
  const home = mkdtempSync(join(tmpdir(), "tau-empty-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const variables = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    NODE_OPTIONS: process.env.NODE_OPTIONS ?? "",
  };
  const agent = new AcpLines({ cwd: home, variables, arguments: [] });
  for (const protocolVersion of [1, 0, 2, 65_535]) {
    const params = { protocolVersion, clientCapabilities: { auth: { terminal: true } } };
    agent.send({ id: protocolVersion, method: "initialize", params });
    expect((await agent.answer(protocolVersion)).result).toEqual({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: {
          list: {},
          resume: {},
          close: {},
          delete: {},
          additionalDirectories: {},
        },
        auth: { logout: {} },
      },
      authMethods: [
        { id: "keys", name: "API keys", description: expect.any(String) },
        {
          id: "login",
          type: "terminal",
          name: "Log in",
          description: expect.any(String),
          args: ["auth", "login"],
        },
      ],
      agentInfo: { name: "tau", title: "Tau", version: expect.stringMatching(/^\d/) },
    });
  }
  agent.send({ id: "plain", method: "initialize", params: { protocolVersion: 1 } });
  const { authMethods } = (await agent.answer("plain")).result as { authMethods: { id: string }[] };
  expect(authMethods.map(({ id }) => id)).toEqual(["keys"]);
  agent.send({ id: "auth", method: "authenticate", params: { methodId: "keys" } });
  expect((await agent.answer("auth")).error).toMatchObject({ code: -32000 });
  const sessionId = await agent.open(home);
  agent.send({ id: "prompt", method: "session/prompt", params: { sessionId, prompt: say("hi") } });
  expect((await agent.answer("prompt")).error).toMatchObject({
    code: -32000,
    message: expect.stringContaining("API key"),
  });
  agent.child.stdin.end();
  expect(await agent.ended).toBe(0);
});

describe("a broken client gets an error", () => {
  it.each(
    slice(
      [
        ["rubbish", "{nonsense", -32700, null],
        ["a batch", '[{"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}]', -32600, null],
        ["an empty batch", "[]", -32600, null],
        ["a number", "5", -32600, null],
        ["null", "null", -32600, null],
        ["a request of another protocol", '{"id":5,"method":"session/list"}', -32600, null],
        ["an id that is none", '{"jsonrpc":"2.0","id":{},"method":"session/list"}', -32600, null],
        [
          "an unknown method",
          '{"jsonrpc":"2.0","id":5,"method":"session/fork","params":{}}',
          -32601,
          5,
        ],
        ["no parameters", '{"jsonrpc":"2.0","id":5,"method":"session/new"}', -32602, 5],
        [
          "parameters of a wrong type",
          '{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":1}}',
          -32602,
          5,
        ],
      ],
      3,
    ),
  )("for %s", async (_, line, code, id) => {
    const { agent } = await start();
    agent.line(line);
    const answer = await agent.find((message) => message.error !== undefined);
    expect(answer).toMatchObject({ id, error: { code } });
    agent.send({ id: "after", method: "session/list", params: {} });
    expect((await agent.answer("after")).error).toBeUndefined();
  });

  it.each(
    slice(
      [
        ["session/new", { cwd: "here", mcpServers: [] }, -32602],
        ["session/new", { cwd: "/no/such/folder", mcpServers: [] }, -32602],
        ["session/load", { cwd: ".", mcpServers: [], sessionId: "x" }, -32602],
        ["session/load", { cwd: "/", mcpServers: [], sessionId: "x" }, -32002],
        ["session/resume", { cwd: "/", mcpServers: [], sessionId: "../../etc/passwd" }, -32002],
        ["session/prompt", { sessionId: "x", prompt: say("hi") }, -32002],
        ["session/set_mode", { sessionId: "x", modeId: "ask" }, -32002],
        ["session/set_config_option", { sessionId: "x", configId: "model", value: "a/b" }, -32002],
        ["authenticate", { methodId: "login" }, -32602],
        ["authenticate", { methodId: "magic" }, -32602],
        ["session/delete", {}, -32602],
      ],
      3,
    ),
  )("from %s for %j", async (method, params, code) => {
    const { agent } = await start();
    agent.send({ id: 1, method, params });
    expect((await agent.answer(1)).error).toMatchObject({ code, message: expect.any(String) });
  });

  it.each(
    slice(
      [
        ["session/set_mode", { modeId: "yolo" }],
        ["session/set_config_option", { configId: "colour", value: "red" }],
        ["session/set_config_option", { configId: "model", value: "no/model" }],
        ["session/set_config_option", { configId: "thinking", value: "hard" }],
        ["session/set_config_option", { configId: "thinking", type: "boolean", value: true }],
        ["session/prompt", { prompt: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] }],
        ["session/prompt", { prompt: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }],
        ["session/prompt", { prompt: [] }],
        ["session/prompt", { prompt: "hi" }],
      ],
      3,
    ),
  )("of -32602 from %s for %j in a session", async (method, params) => {
    const { agent, place } = await start({ scenario: ["fine"] });
    const sessionId = await agent.open(place.cwd);
    agent.send({ id: 1, method, params: { sessionId, ...params } });
    expect((await agent.answer(1)).error).toMatchObject({ code: -32602 });
    agent.send({ id: 2, method: "session/prompt", params: { sessionId, prompt: say("hi") } });
    expect((await agent.answer(2)).result).toEqual({ stopReason: "end_turn" });
  });

  it("is refused before the client has called initialize", async () => {
    const agent = new AcpLines(makeEditorPlace());
    agent.send({ id: 1, method: "session/list", params: {} });
    expect((await agent.answer(1)).error).toMatchObject({ code: -32600 });
    expect((await agent.initialize()).result).toMatchObject({ protocolVersion: 1 });
  });

  it("ignores answers to unknown requests and unknown notifications", async () => {
    const { agent, place } = await start({ scenario: ["fine"] });
    agent.send({ id: 77, result: {} });
    agent.send({ id: 78, error: { code: 1, message: "no" } });
    agent.send({ method: "session/nothing", params: {} });
    agent.send({ method: "session/cancel", params: { wrong: true } });
    agent.send({ method: "$/cancel_request", params: { requestId: 1234 } });
    agent.line('{"jsonrpc":"2.0","method":"$/cancel_request"}');
    const sessionId = await agent.open(place.cwd);
    agent.send({ id: 2, method: "session/prompt", params: { sessionId, prompt: say("hi") } });
    expect((await agent.answer(2)).result).toEqual({ stopReason: "end_turn" });
  });
});

it("accepts everything at once, split anywhere", async () => {
  const place = makeEditorPlace({ scenario: [{ repeat: true, content: "fine \u2028 é😀" }] });
  const agent = new AcpLines(place);
  void agent.initialize();
  const sessionId = await agent.open(place.cwd);
  const messages = Array.from({ length: 20 }, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "session/prompt",
    params: { sessionId, prompt: say(`é😀 ${id}`) },
  }));
  for (const message of messages) agent.expect(message);
  const lines = messages.map((message) => JSON.stringify(message));
  const bytes = Buffer.from(`${lines.join("\r\n\n")}\n`);
  for (let at = 0; at < bytes.length; at += 7) agent.child.stdin.write(bytes.subarray(at, at + 7));
  await agent.find(({ id, result }) => id === 19 && result !== undefined);
  const ids = agent.received
    .filter(({ id, result }) => typeof id === "number" && result)
    .map(({ id }) => id);
  expect(ids).toEqual(messages.map(({ id }) => id));
});

it("handles a prompt and its cancellation in one write", async () => {
  const { agent, place } = await start({
    scenario: [{ repeat: true, content: [call("bash", { command: "sleep 660" })] }],
  });
  const sessionId = await agent.open(place.cwd);
  for (const id of [1, 2, 3]) {
    agent.send({ id, method: "session/prompt", params: { sessionId, prompt: say("go") } });
    agent.send({ method: "session/cancel", params: { sessionId } });
    expect((await agent.answer(id)).result).toEqual({ stopReason: "cancelled" });
  }
  agent.send({ id: 9, method: "session/prompt", params: { sessionId, prompt: say("go") } });
  agent.send({ method: "$/cancel_request", params: { requestId: 9 } });
  expect((await agent.answer(9)).result).toEqual({ stopReason: "cancelled" });
});

describe("an editor that disconnects", () => {
  const scenario = [{ content: [call("bash", { command: "echo $$ > pid; sleep 600" })] }];

  it.each(["stdin", "stdout"] as const)(
    "by closing %s ends the command and the agent",
    async (pipe) => {
      const { agent, place } = await start({ scenario });
      const sessionId = await agent.open(place.cwd);
      agent.send({ id: 1, method: "session/prompt", params: { sessionId, prompt: say("go") } });
      await agent.find((message) => JSON.stringify(message).includes("in_progress"));
      const pid = await childOf(agent.child.pid ?? 0);
      if (pipe === "stdin") agent.child.stdin.end();
      else {
        agent.child.stdout.destroy();
        agent.send({ id: 2, method: "session/list", params: {} });
      }
      expect(await agent.ended).toBe(0);
      expect(await areGone([pid])).toBe(true);
      if (pipe === "stdin")
        expect((await agent.answer(1)).result).toEqual({ stopReason: "cancelled" });
    },
  );

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("is the same as %s, but for the code", async (signal, code) => {
    const { agent, place } = await start({ scenario });
    const sessionId = await agent.open(place.cwd);
    agent.send({ id: 1, method: "session/prompt", params: { sessionId, prompt: say("go") } });
    await agent.find((message) => JSON.stringify(message).includes("in_progress"));
    const pid = await childOf(agent.child.pid ?? 0);
    agent.child.kill(signal);
    expect(await agent.ended).toBe(code);
    expect(await areGone([pid])).toBe(true);
  });

  it("gets answers to its last requests", async () => {
    const { agent, place } = await start({ scenario: ["fine"] });
    agent.send({ id: 1, method: "session/new", params: { cwd: place.cwd, mcpServers: [] } });
    agent.send({ id: 2, method: "session/list", params: {} });
    agent.child.stdin.end('{"jsonrpc":"2.0","id":3,"method":"nonsense"}');
    expect(await agent.ended).toBe(0);
    expect(agent.received.map(({ id }) => id)).toEqual(expect.arrayContaining([1, 2, 3]));
  });

  it("ends the agent even while a question is open", async () => {
    const { agent, place } = await start({
      scenario: [{ content: [call("write", { path: "x", content: "x" })] }],
      arguments: ["--permission-mode", "ask"],
    });
    const sessionId = await agent.open(place.cwd);
    agent.send({ id: 1, method: "session/prompt", params: { sessionId, prompt: say("go") } });
    await agent.find(({ method }) => method === "session/request_permission");
    agent.child.stdin.end();
    expect(await agent.ended).toBe(0);
  });
});

/** The process id of the child that runs a test's command. */
async function childOf(parent: number): Promise<number> {
  const { readdirSync, readFileSync } = await import("node:fs");
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline) {
    for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const ppid = Number(/\) \S (\d+)/.exec(stat)?.[1]);
        if (ppid === parent && isAlive(Number(name))) return Number(name);
      } catch {
        // The process has ended.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("no child");
}
