/** Fallback models, and keys supplied by clients, over the protocol against the built host. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { overloaded, type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import { RpcClient, type RpcClientOptions } from "@tau-agent/rpc-client";
import type { ClientEvent, CredentialParams } from "@tau-agent/rpc-protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { nextLike } from "../support/next-like.ts";
import { makePlace } from "../support/place.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";
import type { Frame } from "../support/test-client.ts";
import { twoVendors } from "../support/two-vendors.ts";

const SECRET = "vault.0123456789abcdef";

async function start(files: Record<string, string>, options: RpcClientOptions) {
  const place = makePlace({ files });
  let stderr = "";
  const client = new RpcClient({
    model: "first/one",
    ...options,
    cliPath: binPath,
    cwd: place.cwd,
    env: { ...place.variables, ...options.env },
    onStderr: (text) => {
      stderr += text;
    },
  });
  const events: ClientEvent[] = [];
  client.onEvent((event) => void events.push(structuredClone(event)));
  onTestFinished(async () => {
    await client.stop();
    place.remove();
  });
  await client.start();
  return { client, events, place, stderr: () => stderr };
}

/** The contents of all files below a folder as one text. */
function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

const delegates: Scenario = ({ lastUserText, toolResults }) => {
  if (!lastUserText.includes("delegate")) return turn("", { fault: overloaded() });
  return toolResults.length > 0 ? "done" : turn(toolCall("task", { task: "look" }));
};

describe("a client with fallbacks", () => {
  it("is notified of a fallback, which also works for subagents in their own processes", async () => {
    const { files, first } = await twoVendors({
      first: delegates,
      second: () => "second looked",
      fault: (index) => {
        const asked = JSON.stringify(first.requests[index]?.body);
        return asked.includes("delegate") ? undefined : overloaded();
      },
    });
    const { client, events } = await start(files, { fallbackModels: ["second/one"] });
    await client.setSubagentSubscription("all");
    await client.promptAndWait("delegate", { timeoutMs: 40_000 });
    const ofSubagent = events.flatMap((event) =>
      event.type === "subagent_event" && event.event.type === "model_fallback" ? [event.event] : [],
    );
    expect(ofSubagent).toMatchObject([{ from: "first/one", to: "second/one" }]);
    await client.promptAndWait("hi", { timeoutMs: 20_000 });
    expect(events.filter(({ type }) => type === "model_fallback")).toMatchObject([
      { from: "first/one", to: "second/one", reason: "overloaded", promptId: expect.any(String) },
    ]);
    const last = (await client.getMessages()).messages.at(-1);
    expect(last).toMatchObject({ provider: "second", model: "one" });
  });

  it("receives the event again when it attaches later and asks for missed frames", async () => {
    const { files } = await twoVendors({ first: [], second: ["hello"], fault: () => overloaded() });
    const host = startHost({ files, arguments: ["--sessions", "--model", "first/one"] });
    host.send({ id: "o", type: "open_session", fallbackModels: ["second/one"] });
    const { data } = await nextLike(host, { id: "o", type: "response" });
    const { sessionId, seq } = data as { sessionId: string; seq: number };
    host.send({ type: "prompt", message: "hi", sessionId });
    const live = await nextLike(host, { type: "model_fallback" });
    expect(live).toMatchObject({ from: "first/one", to: "second/one", reason: "overloaded" });
    await nextLike(host, { type: "prompt_result" });
    host.send({ type: "detach", sessionId });
    host.send({ type: "attach", sessionId, after: seq });
    expect(await nextLike(host, { type: "model_fallback" })).toEqual(live);
    await nextLike(host, { type: "live" });
  });

  it("learns which name is wrong", async () => {
    const { files } = await twoVendors({ first: [], second: [] });
    const words = ["--model", "first/one", "--fallback-model", "second/oen"];
    const ended = await runHost({ files, arguments: words });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/Model not found: second\/oen\. Did you mean second\/one/);
  });

  it("stays on the fallback after its host was killed", async () => {
    const works: Scenario = ({ index }) =>
      index === 0 ? turn(toolCall("bash", { command: "sleep 660" })) : "done";
    const { files } = await twoVendors({ first: [], second: works, fault: () => overloaded() });
    const place = makePlace({ files });
    const words = ["--mode", "rpc", "--model", "first/one", "--fallback-model", "second/one"];
    const session = join(place.folder, "session.jsonl");
    const own = { ...place, arguments: [...words, "--session", session] };
    const host = startHost({}, { place: own });
    host.send({ type: "initialize", id: "i" });
    host.send({ type: "prompt", message: "go", promptId: "p1", id: "p" });
    await host.until({ "...": true, type: "tool_execution_start" });
    host.child.kill("SIGKILL");
    await host.ended;
    const again = startHost({}, { place: own });
    again.send({ type: "initialize", id: "i" });
    again.send({ type: "get_state", id: "s" });
    expect((await again.until({ "...": true, id: "s" })).data).toMatchObject({
      model: { provider: "first", id: "one" },
    });
    again.send({ type: "prompt", promptId: "p1", resume: true, message: "", id: "p" });
    await again.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(again.stdout).not.toContain("model_fallback");
    expect(again.stdout).toMatch(/"provider":"second","model":"one"/);
  });
});

describe("a client that supplies keys", () => {
  it("serves the host and its subagents without storing the key in a file", async () => {
    const { files, first } = await twoVendors({
      first: ({ lastUserText, toolResults }) => {
        if (!lastUserText.includes("delegate")) return "looked";
        return toolResults.length > 0 ? "done" : turn(toolCall("task", { task: "look" }));
      },
      second: [],
      keys: [SECRET],
    });
    const asked: CredentialParams[] = [];
    const { client, place, events, stderr } = await start(files, {
      args: ["--verbose"],
      credentials: async (params) => {
        asked.push(params);
        return { apiKey: SECRET };
      },
    });
    const end = await client.promptAndWait("delegate", { timeoutMs: 40_000 });
    expect(end).toMatchObject({ status: "completed" });
    expect(first.requests).toHaveLength(3);
    expect(asked).toEqual([{ provider: "first", modelId: "one", reason: "start" }]);
    expect((await client.getState()).pendingRequests).toEqual([]);
    expect(JSON.stringify(events) + stderr()).not.toContain(SECRET);
    expect(everythingIn(place.folder)).not.toContain(SECRET);
  });

  it("is asked once more after a 401, and its error ends the prompt if it has no key", async () => {
    const { files } = await twoVendors({ first: () => "hi", second: [], keys: [SECRET] });
    const keys = ["an-old-key", SECRET];
    const { client } = await start(files, { credentials: () => ({ apiKey: keys.shift() ?? "" }) });
    expect(await client.promptAndWait("1")).toMatchObject({ status: "completed" });
    const sealed = await start(files, {
      credentials: () => Promise.reject(new Error("the vault is sealed")),
    });
    await expect(sealed.client.promptAndWait("1")).rejects.toMatchObject({
      code: "key_unresolved",
      message: expect.stringContaining("the vault is sealed"),
    });
  });

  it("still shows approvals as before if it has no function for them", async () => {
    const { files } = await twoVendors({
      first: ({ toolResults: [result] }) =>
        result === undefined ? turn(toolCall("bash", { command: "echo ran" })) : `${result.text}`,
      second: [],
    });
    const titles: string[] = [];
    const { client } = await start(files, {
      permissions: "ask",
      credentials: () => ({}),
      ui: {
        select: async ({ title, options }) => {
          titles.push(title);
          return options[0];
        },
      },
    });
    const { text } = await client.promptAndWait("go", { timeoutMs: 20_000 });
    expect(text).toContain("ran");
    expect(titles).toHaveLength(1);
  });
});

const answersKeys = { type: "initialize", capabilities: { hostRequests: ["credential"] } };
const isQuestion = ({ type, method }: Frame) => type === "host_request" && method === "credential";

describe.each([[[]], [["--isolate", "process"]]])("a host with many sessions %j", (more) => {
  const begin = async () => {
    const vendors = await twoVendors({ first: () => "hi", second: [], keys: [SECRET] });
    const words = ["--model", "first/one", ...more];
    const host = await listeningHost({ files: vendors.files, arguments: words });
    const opener = await FrameClient.connect(host.unixUrl);
    await opener.ask(answersKeys);
    return { ...vendors, ...host, opener };
  };

  it("asks only the connection that opened the session", async () => {
    const { opener, url, token, host } = await begin();
    const other = await FrameClient.connect(url, token);
    await other.ask(answersKeys);
    const { data } = await opener.ask({ type: "open_session" });
    const { sessionId, streamId } = data as { sessionId: string; streamId: string };
    await other.ask({ type: "attach", sessionId });
    void opener.ask({ type: "prompt", message: "go", sessionId });
    const { id, params } = await opener.until(isQuestion);
    expect(params).toEqual({ provider: "first", modelId: "one", reason: "start" });
    const { data: listed } = await other.ask({ type: "get_pending_requests", sessionId });
    expect(listed).toEqual({ requests: [] });
    const late = await FrameClient.connect(url, token);
    await late.ask(answersKeys);
    const { data: attached } = await late.ask({ type: "attach", sessionId, streamId, after: 0 });
    expect(attached).toMatchObject({ pendingRequests: [] });
    opener.send({ type: "host_response", id, sessionId, result: { apiKey: SECRET } });
    const isEnd = ({ type }: Frame) => type === "prompt_result";
    expect(await opener.until(isEnd)).toMatchObject({ status: "completed" });
    await late.until(isEnd);
    const again = await FrameClient.connect(url, token);
    await again.ask({ type: "attach", sessionId, streamId, after: 0 });
    await again.until(({ type }) => type === "live");
    for (const client of [other, late, again]) {
      const seen = client.frames.filter(({ type }) => String(type).startsWith("host_request"));
      expect(seen).toEqual([]);
    }
    const shown = [opener, other, late, again].map(({ frames }) => JSON.stringify(frames));
    expect(shown.join("") + host.stderr).not.toContain(SECRET);
  });

  it("does not ask a client whose capabilities omit it", async () => {
    const { unixUrl } = await begin();
    for (const hostRequests of [true, ["dialog"]]) {
      const client = await FrameClient.connect(unixUrl);
      await client.ask({ type: "initialize", capabilities: { hostRequests } });
      const { data } = await client.ask({ type: "open_session" });
      const { sessionId } = data as { sessionId: string };
      await client.ask({ type: "prompt", message: "go", sessionId });
      // The key in models.json is sent instead.
      const isEnd = ({ type }: Frame) => type === "prompt_result";
      expect(await client.until(isEnd)).toMatchObject({ status: "error", code: "auth" });
      expect(client.frames.some(isQuestion)).toBe(false);
    }
  });

  it("asks the next client when the one that opened the session has left", async () => {
    const { opener, unixUrl } = await begin();
    const { data } = await opener.ask({ type: "open_session" });
    const { sessionId } = data as { sessionId: string };
    opener.close();
    const next = await FrameClient.connect(unixUrl);
    await next.ask(answersKeys);
    await next.ask({ type: "attach", sessionId });
    void next.ask({ type: "prompt", message: "go", sessionId });
    const { id } = await next.until(isQuestion);
    next.send({ type: "host_response", id, sessionId, result: { apiKey: SECRET } });
    const isEnd = ({ type }: Frame) => type === "prompt_result";
    expect(await next.until(isEnd)).toMatchObject({ status: "completed" });
  });

  it("opens a session with its own fallbacks and reports which name is wrong", async () => {
    const { opener } = await begin();
    expect(
      await opener.ask({ type: "open_session", fallbackModels: ["second/oen"] }),
    ).toMatchObject({ success: false, code: "model_not_found" });
    expect(await opener.ask({ type: "open_session", fallbackModels: "second/one" })).toMatchObject({
      code: "invalid_params",
    });
    expect(
      await opener.ask({ type: "open_session", fallbackModels: ["second/one"] }),
    ).toMatchObject({ success: true });
  });
});
