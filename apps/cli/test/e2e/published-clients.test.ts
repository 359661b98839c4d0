import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { startLoopbackServer, toolCall } from "@tau-agent/ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { makePlace, type Place } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";

/** Clients as published in the registry, unchanged. */
const clients = [
  { release: "0.58", index: import.meta.resolve("@mariozechner/pi-coding-agent"), protocol: "pi" },
  { release: "0.73", index: import.meta.resolve("pi-coding-agent-0.73"), protocol: "pi" },
  // `pi --version` prints this release.
  { release: "0.87", index: import.meta.resolve("pi-coding-agent-0.87"), protocol: "pi" },
  {
    release: "1.5",
    index: import.meta.resolve("@earendil-works/pi-coding-agent"),
    protocol: "pi-1",
  },
] as const;

type Client = Record<string, (...parameters: unknown[]) => unknown>;

/** Internal methods that users do not call. */
const internal = ["constructor", "handleLine", "createProcessExitError", "rejectPendingRequests"];

async function loadClient(index: string): Promise<new (options: object) => Client> {
  // The package's index also loads everything for a terminal, and the package does not export this file.
  const file = new URL("modes/rpc/rpc-client.js", index);
  return (await import(file.href)).RpcClient;
}

/** A client of its package with its host; records the names of the methods that were called. */
async function startClient(index: string, protocol: string, place: Place) {
  const RpcClient = await loadClient(index);
  const called = new Set<string>();
  const client = new RpcClient({
    cliPath: binPath,
    cwd: place.cwd,
    env: { ...place.variables, PI_RPC_PROTOCOL: protocol },
    args: place.arguments.slice(2),
  });
  onTestFinished(async () => {
    await client.stop?.();
    place.remove();
  });
  const call = async (method: string, ...parameters: unknown[]): Promise<unknown> => {
    called.add(method);
    const work = client[method];
    if (work === undefined) throw new RangeError(`The client has no ${method}`);
    return work.apply(client, parameters);
  };
  const methods = Object.getOwnPropertyNames(RpcClient.prototype);
  const unused = () =>
    methods.filter((method) => !called.has(method) && !internal.includes(method));
  // In pi, the application answers dialogs; the client has no method for it.
  const answer = (response: object): void => {
    const { stdin } = Reflect.get(client, "process") as unknown as { stdin: Writable };
    stdin.write(`${JSON.stringify({ type: "extension_ui_response", ...response })}\n`);
  };
  return { call, unused, methods, answer };
}

const scenario = [
  { when: { lastUserIncludes: "list", hasToolResults: false }, content: [toolCall("ls", {})] },
  { when: { lastUserIncludes: "list", hasToolResults: true }, content: "There is notes.txt." },
  { when: { lastUserIncludes: "slow" }, content: "A slow answer.", delayMs: 100 },
  { content: "Yes." },
] as const;

describe.each(clients)(
  "the published RpcClient of pi $release on the dialect $protocol",
  ({ index, protocol }) => {
    it("drives the host through all of its methods", async () => {
      const place = makePlace({
        scenario: [...scenario, ...scenario, ...scenario],
        files: { "agent/prompts/greet.md": "Say hello to $1." },
      });
      const { call, unused, methods } = await startClient(index, protocol, place);
      const has = (method: string): boolean => methods.includes(method);
      const isNew = protocol === "pi-1";
      await call("start");
      const types: string[] = [];
      await call("onEvent", (event: { type: string }) => void types.push(event.type));

      const events = (await call("promptAndWait", "list")) as { type: string }[];
      expect(events.map(({ type }) => type)).toContain("tool_execution_end");
      expect(events.at(-1)?.type).toBe(has("clearQueue") ? "agent_settled" : "agent_end");
      expect(await call("getLastAssistantText")).toBe("There is notes.txt.");

      const idle = call("waitForIdle");
      const disposition = await call("prompt", "slow");
      const steered = await call("steer", "yes?");
      const followed = await call("followUp", "and?");
      if (isNew) expect([disposition, steered, followed]).toEqual(["started", "queued", "queued"]);
      if (has("clearQueue"))
        expect(await call("clearQueue")).toEqual({ steering: ["yes?"], followUp: ["and?"] });
      await call("abort");
      await idle;
      // Alone, because of two callers waiting for one event, older clients miss the second.
      const collected = call("collectEvents");
      await call("prompt", "yes?");
      await collected;

      const state = (await call("getState")) as Record<string, unknown>;
      expect(state).toMatchObject({ isStreaming: false, model: { provider: "scripted" } });
      const { provider, id } = state.model as { provider: string; id: string };
      expect(await call("setModel", provider, id)).toMatchObject({ id });
      expect(await call("getAvailableModels")).toContainEqual(expect.objectContaining({ id }));
      await call("cycleModel");
      await call("setThinkingLevel", "off");
      await call("cycleThinkingLevel");
      if (has("getAvailableThinkingLevels"))
        expect(await call("getAvailableThinkingLevels")).toContain("off");
      await call("setSteeringMode", "all");
      await call("setFollowUpMode", "all");
      await call("setAutoCompaction", false);
      await call("setAutoRetry", false);
      await call("abortRetry");
      expect(await call("getState")).toMatchObject({
        steeringMode: "all",
        followUpMode: "all",
        autoCompactionEnabled: false,
      });
      expect(await call("bash", "echo one")).toMatchObject({ output: "one\n", exitCode: 0 });
      if (isNew) expect(types).toContain("bash_execution_update");
      await call("abortBash");
      expect(await call("getSessionStats")).toMatchObject({ toolCalls: 1, toolResults: 1 });
      const page = (await call("exportHtml", join(place.folder, "page.html"))) as { path: string };
      expect(readFileSync(page.path, "utf8")).toContain("There is notes.txt.");
      await call("setSessionName", "tried");
      expect(await call("getState")).toMatchObject({ sessionName: "tried" });
      const messages = (await call("getMessages")) as { role: string }[];
      expect(messages.slice(0, 4).map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "toolResult",
        "assistant",
      ]);
      expect(await call("getCommands")).toContainEqual(
        expect.objectContaining({
          name: "greet",
          source: "prompt",
          sourceInfo: expect.objectContaining({ scope: "user" }),
        }),
      );
      if (has("getEntries")) {
        const { entries, leafId } = (await call("getEntries")) as { entries: []; leafId: string };
        expect(entries).toContainEqual(expect.objectContaining({ id: leafId }));
        expect(await call("getTree")).toMatchObject({ leafId });
      }
      if (has("clone")) expect(await call("clone")).toEqual({ cancelled: false });
      const [first] = (await call("getForkMessages")) as { entryId: string; text: string }[];
      expect(first).toMatchObject({ text: "list" });
      await expect(call("compact", "short")).rejects.toThrow(/\w/);
      expect(await call("fork", first?.entryId)).toMatchObject({ text: "list", cancelled: false });
      expect(await call("newSession")).toEqual({ cancelled: false });
      expect(await call("switchSession", state.sessionFile)).toEqual({ cancelled: false });
      expect(await call("getSessionStats")).toMatchObject({ toolCalls: 1 });
      await expect(call("switchSession", join(place.folder, "none.jsonl"))).rejects.toThrow(/none/);
      await call("getStderr");
      await call("stop");
      expect(unused()).toEqual(["send", "getData"]);
    });

    it("shows approvals as select dialogs, and their answers count", async () => {
      const touch = { content: [toolCall("bash", { command: "touch made" })] };
      const place = makePlace({
        scenario: [touch, { content: "no" }, touch, { content: "yes" }],
        arguments: ["--permission-mode", "ask"],
      });
      const { call, answer } = await startClient(index, protocol, place);
      await call("start");
      const values = ["Deny", "Allow once"];
      const dialogs: Record<string, unknown>[] = [];
      await call("onEvent", (event: Record<string, unknown>) => {
        if (event.type !== "extension_ui_request") return;
        dialogs.push(event);
        answer({ id: event.id, value: values[dialogs.length - 1] });
      });
      const isMade = (): boolean => existsSync(join(place.cwd, "made"));
      await call("promptAndWait", "one");
      expect(isMade()).toBe(false);
      await call("promptAndWait", "two");
      expect(isMade()).toBe(true);
      expect(dialogs).toMatchObject([
        { method: "select", title: "Allow bash: touch made?" },
        { options: ["Allow once", "Allow for this session", "Deny"] },
      ]);
    });

    it("receives a compaction and a streaming reply", async () => {
      const long = { content: "word ".repeat(400), usage: { input: 9000, output: 500 } };
      const place = makePlace({
        scenario: [long, long, { content: "All in short." }, long],
        files: {
          "agent/settings.json": JSON.stringify({ compaction: { keepRecentTokens: 100 } }),
        },
      });
      const { call } = await startClient(index, protocol, place);
      await call("start");
      const events: Record<string, unknown>[] = [];
      await call("onEvent", (event: Record<string, unknown>) => void events.push(event));
      await call("promptAndWait", "one");
      await call("promptAndWait", "two");
      expect(await call("compact")).toMatchObject({ summary: expect.stringContaining("short") });
      const updates = events.filter(({ type }) => type === "message_update");
      expect(updates.length).toBeGreaterThan(0);
      for (const update of updates) {
        expect("message" in update).toBe(protocol === "pi");
        expect("usage" in update).toBe(protocol === "pi-1");
      }
      const { result } = events.find(({ type }) => type === "compaction_end") ?? {};
      expect(result).toMatchObject({ summary: expect.stringContaining("short") });
    });
  },
);

/** JSON-RPC over an adapter's stdio. */
class Adapter {
  readonly updates: Record<string, unknown>[] = [];
  /** The requests to the editor, which picks the first option. */
  readonly questions: Record<string, unknown>[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #pending = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  #id = 0;

  constructor(program: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#child = spawn(process.execPath, [program], {
      ...options,
      stdio: ["pipe", "pipe", "inherit"],
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#take(line));
  }

  request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#id;
    const waiting = Promise.withResolvers<Record<string, unknown>>();
    this.#pending.set(id, waiting);
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return waiting.promise;
  }

  notify(method: string, params: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  async end(): Promise<void> {
    this.#child.kill();
    await new Promise((resolve) => this.#child.once("close", resolve));
  }

  #take(line: string): void {
    const frame = JSON.parse(line);
    if (frame.method === "session/update") this.updates.push(frame.params.update);
    if (frame.method === "session/request_permission") {
      this.questions.push(frame.params);
      const { optionId } = frame.params.options[0];
      const result = { outcome: { outcome: "selected", optionId } };
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: frame.id, result })}\n`);
    }
    const waiting = this.#pending.get(frame.id);
    if (frame.method !== undefined || waiting === undefined) return;
    if (frame.error) waiting.reject(new RangeError(JSON.stringify(frame.error)));
    else waiting.resolve(frame.result);
  }
}

describe("pi-acp", () => {
  it("connects an editor that speaks the Agent Client Protocol to the host", async () => {
    const server = await startLoopbackServer({
      scenario: ({ lastUserText, toolResults }) => {
        if (lastUserText.includes("touch") && toolResults.length === 0) {
          return { content: [toolCall("bash", { command: "touch made" }, { id: "call_2" })] };
        }
        if (lastUserText.includes("wait")) return { content: "Slowly. ".repeat(50), delayMs: 50 };
        const [result] = toolResults;
        if (result === undefined) return { content: [toolCall("ls", {}, { id: "call_1" })] };
        return `There is ${result.text.trim()}.`;
      },
    });
    const place = makePlace();
    onTestFinished(async () => {
      await adapter.end();
      await server.close();
      place.remove();
    });
    const baseUrl = server.urls["openai-completions"];
    const loopback = { baseUrl, api: "openai-completions", models: [{ id: "scripted" }] };
    const agent = join(place.folder, "agent");
    mkdirSync(agent, { recursive: true });
    writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { loopback } }));
    const settings = {
      defaultProvider: "loopback",
      defaultModel: "scripted",
      "permissions.mode": "ask",
    };
    writeFileSync(join(agent, "settings.json"), JSON.stringify(settings));
    const program = fileURLToPath(import.meta.resolve("pi-acp"));
    const path = `${dirname(process.execPath)}:${place.variables.PATH}`;
    const adapter = new Adapter(program, {
      cwd: place.cwd,
      env: { ...place.variables, PATH: path, PI_ACP_PI_COMMAND: binPath },
    });

    await adapter.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await adapter.request("session/new", { cwd: place.cwd, mcpServers: [] });
    const ask = (text: string) =>
      adapter.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    expect(await ask("What is here?")).toMatchObject({ stopReason: "end_turn" });
    const said = adapter.updates
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ content }) => (content as { text: string }).text);
    expect(said.join("")).toContain("There is notes.txt.");
    expect(adapter.updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: "tool_call_update", status: "completed" }),
    );

    expect(await ask("Please touch it.")).toMatchObject({ stopReason: "end_turn" });
    expect(JSON.stringify(adapter.questions)).toContain("Allow bash: touch made?");
    expect(existsSync(join(place.cwd, "made"))).toBe(true);

    const waiting = ask("wait");
    await expect.poll(() => adapter.updates.length).toBeGreaterThan(said.length + 2);
    adapter.notify("session/cancel", { sessionId });
    expect(await waiting).toMatchObject({ stopReason: "cancelled" });
  });
});

it("tells a program with the client of pi 1.x which dialect it needs before the client fails", async () => {
  const place = makePlace({ scenario: [...scenario] });
  onTestFinished(() => place.remove());
  const index = import.meta.resolve("@earendil-works/pi-coding-agent");
  const program = join(place.cwd, "program.mjs");
  writeFileSync(
    program,
    `import { RpcClient } from ${JSON.stringify(new URL("modes/rpc/rpc-client.js", index).href)};
const client = new RpcClient(${JSON.stringify({ cliPath: binPath, cwd: place.cwd, args: place.arguments.slice(2) })});
await client.start();
await client.prompt("list");`,
  );
  const { PI_RPC_PROTOCOL: _, ...environment } = { ...process.env, ...place.variables };
  const child = spawn(process.execPath, [program], {
    cwd: place.cwd,
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let shown = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  expect(shown).toMatch(/A client of pi 1\.x needs --protocol pi-1/);
  expect(shown).toContain("disposition");
});
