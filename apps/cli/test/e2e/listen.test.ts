import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventSource } from "eventsource";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { nextLike } from "../support/next-like.ts";
import { makePlace } from "../support/place.ts";
import { startHost } from "../support/start-host.ts";
import type { Frame } from "../support/test-client.ts";

const scenario = [{ repeat: true, content: "Hello." }];
const json = { "content-type": "application/json" };

describe("a port", () => {
  it("accepts clients that have the token and come from an allowed page", async () => {
    const origin = "https://chat.example";
    const { http, token } = await listeningHost({
      scenario,
      arguments: ["--allow-origin", origin],
    });
    const bearer = { authorization: `Bearer ${token}` };
    const status = async (path: string, init: RequestInit = {}) =>
      (await fetch(`${http}${path}`, init)).status;
    const post = (headers: Record<string, string>, body = "{}") =>
      status("/rpc", { method: "POST", headers, body });
    expect(await status("/healthz", { headers: { origin: "https://evil.example" } })).toBe(200);
    expect(await status("/readyz")).toBe(200);
    expect(await post(json)).toBe(401);
    expect(await post({ ...json, authorization: "Bearer wrong" })).toBe(401);
    expect(await post({ ...json, ...bearer, origin: "https://evil.example" })).toBe(403);
    expect(await post({ ...json, ...bearer, origin: "null" })).toBe(403);
    expect(await post({ ...bearer, "content-type": "text/plain" })).toBe(415);
    expect(await post({ ...json, ...bearer }, "[]")).toBe(400);
    expect(await post({ ...json, ...bearer }, "{")).toBe(400);
    expect(await post({ ...json, ...bearer, origin })).toBe(200);
    expect(await status(`/rpc?access_token=${token}`, { method: "POST", headers: json })).toBe(401);
    expect(await status("/elsewhere", { headers: bearer })).toBe(404);
    expect(await status("/sessions/none/events", { headers: bearer })).toBe(404);
    const refused = await fetch(`${http}/rpc`, { method: "POST", headers: json });
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    const preflight = await fetch(`${http}/rpc`, { method: "OPTIONS", headers: { origin } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("answers one command over HTTP", async () => {
    const { http, token } = await listeningHost({ scenario });
    const post = async (command: object) => {
      const response = await fetch(`${http}/rpc`, {
        method: "POST",
        headers: { ...json, authorization: `Bearer ${token}` },
        body: JSON.stringify(command),
      });
      return (await response.json()) as Frame;
    };
    const { data } = await post({ id: 1, type: "open_session" });
    const { sessionId } = data as { sessionId: string };
    const prompt = { id: 2, type: "prompt", message: "hi", sessionId };
    expect(await post(prompt)).toMatchObject({ id: 2, success: true, sessionId });
    expect(await post({ type: "get_state" })).toMatchObject({ code: "missing_session_id" });
  });

  it("closes a WebSocket that sends bytes, and serves no other path", async () => {
    const { url, token } = await listeningHost({ scenario });
    const socket = new WebSocket(`${url}/rpc`, [`tau.bearer.${token}`]);
    const closed = new Promise<number>((resolve) => {
      socket.onclose = ({ code }) => resolve(code);
    });
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    socket.send(new Uint8Array([1]));
    expect(await closed).toBe(1003);
    await expect(FrameClient.connect(url, "wrong-token")).rejects.toThrow();
    await expect(FrameClient.connect(`${url}/no`, token)).rejects.toThrow();
  });

  it("stores its token in a file that only the user can read, and refuses one that others can read", async () => {
    const { tokenFile, place } = await listeningHost({ scenario });
    expect(lstatSync(tokenFile).mode & 0o777).toBe(0o600);
    const loose = join(place.folder, "loose-token");
    writeFileSync(loose, "0123456789abcdef0123\n");
    chmodSync(loose, 0o644);
    const listen = ["--listen", "127.0.0.1:0", "--token-file", loose];
    const host = startHost({ arguments: listen });
    expect((await host.ended).code).toBe(1);
    expect(host.stderr).toMatch(/^tau: error: .*loose-token: others can read it/);
  });

  it("hides a token file in another folder from the model", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tau-token-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "listener");
    const read = { type: "toolCall", name: "read", arguments: { path: file } } as const;
    const { url, token, tokenFile } = await listeningHost({
      scenario: [{ content: [read] }, "done"],
      arguments: ["--token-file", file],
    });
    expect(tokenFile).toBe(file);
    const client = await FrameClient.connect(url, token);
    const sessionId = await client.open();
    await client.ask({ type: "prompt", message: "go", sessionId });
    const end = await client.until(({ type }) => type === "tool_execution_end");
    expect(JSON.stringify(end.result)).toContain("holds keys and is not opened");
  });

  it("is not exposed to other machines by mistake", async () => {
    const host = startHost({ arguments: ["--listen", "0.0.0.0:0"] });
    expect((await host.ended).code).toBe(1);
    expect(host.stderr).toContain("--allow-remote");
  });
});

describe("a Unix socket", () => {
  it("is accessible to the user only", async () => {
    const { unixUrl, place } = await listeningHost({ scenario });
    const path = unixUrl.slice("unix:".length);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    const second = startHost({ arguments: ["--listen", unixUrl] }, {});
    expect((await second.ended).code).toBe(1);
    expect(second.stderr).toContain("another host listens there");
    const file = join(place.folder, "file");
    writeFileSync(file, "mine");
    const third = startHost({ arguments: ["--listen", `unix:${file}`] });
    expect((await third.ended).code).toBe(1);
    expect(third.stderr).toContain("not a socket");
  });

  it("is refused in a folder where others could replace it", async () => {
    const place = makePlace({ scenario });
    const open = join(place.folder, "open");
    mkdirSync(open);
    for (const mode of [0o777, 0o1777, 0o770]) {
      chmodSync(open, mode);
      const host = startHost({ arguments: ["--listen", `unix:${open}/a.sock`] });
      expect((await host.ended).code).toBe(1);
      expect(host.stderr).toContain("others can write to");
    }
    // The user's own folder inside a shared one is accepted.
    chmodSync(open, 0o1777);
    mkdirSync(join(open, "own"), { mode: 0o700 });
    const host = startHost({ scenario, arguments: ["--listen", `unix:${open}/own/a.sock`] });
    expect(await nextLike(host, { type: "listening" })).toMatchObject({ url: expect.any(String) });
    place.remove();
  });

  it("answers a client that has closed its sending side, even during the loading of an extension", async () => {
    const block =
      "const until = Date.now() + 2500; while (Date.now() < until); export default () => {};";
    const files = { "agent/extensions/slow.js": block };
    const { unixUrl } = await listeningHost({ scenario, files }, { isMany: false });
    const path = unixUrl.slice("unix:".length);
    const commands = [
      { id: 1, type: "get_state" },
      { id: 2, type: "get_commands" },
      { id: 3, type: "prompt", message: "x".repeat(1_500_000) },
      { id: 4, type: "get_messages" },
    ];
    for (const isLate of [false, true]) {
      const socket = createConnection(path);
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.end(commands.map((command) => JSON.stringify(command)).join("\n"));
      await once(socket, "close");
      const frames = text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Frame);
      const answered = frames.filter(({ type }) => type === "response").map(({ id }) => id);
      expect(answered.toSorted(), `late: ${isLate}`).toEqual([1, 2, 3, 4]);
    }
  });

  it("is taken over from a host that was killed", async () => {
    const { host, unixUrl } = await listeningHost({ scenario });
    host.child.kill("SIGKILL");
    await host.ended;
    const path = unixUrl.slice("unix:".length);
    const next = startHost({ scenario, arguments: ["--listen", unixUrl] }, {});
    expect(lstatSync(path).isSocket()).toBe(true);
    await nextLike(next, { type: "listening" });
    const client = await FrameClient.connect(unixUrl);
    expect(await client.ask({ type: "get_state" })).toMatchObject({ success: true });
  });
});

describe("several connections", () => {
  it("receive the frames of the sessions they are attached to, with the same numbers", async () => {
    const { url, token, unixUrl } = await listeningHost({ scenario });
    const one = await FrameClient.connect(unixUrl);
    const two = await FrameClient.connect(url, token);
    const [first, second] = [await one.open(), await two.open()];
    await two.ask({ type: "attach", sessionId: first });
    await one.ask({ type: "prompt", message: "hi", sessionId: first });
    await two.ask({ type: "prompt", message: "hi", sessionId: second });
    const isEnd = (id: string) => (frame: Frame) =>
      frame.type === "prompt_result" && frame.sessionId === id;
    await Promise.all([one.until(isEnd(first)), two.until(isEnd(first)), two.until(isEnd(second))]);
    const ends = ({ frames }: FrameClient) =>
      frames
        .filter(({ type, sessionId }) => type === "message_end" && sessionId === first)
        .map(({ seq }) => seq);
    expect(ends(one)).toEqual(ends(two));
    expect(one.frames.some(({ sessionId }) => sessionId === second)).toBe(false);
    two.send({ id: "c", type: "close_session", sessionId: first });
    expect(await one.until(({ type }) => type === "session_closed")).toEqual({
      type: "session_closed",
      sessionId: first,
      reason: "closed",
    });
    expect(two.frames.some(({ type }) => type === "session_closed")).toBe(false);
  });

  it("share the one session of a host without --sessions, each with its own settings", async () => {
    const { unixUrl, url, token } = await listeningHost({ scenario }, { isMany: false });
    const one = await FrameClient.connect(unixUrl);
    const two = await FrameClient.connect(url, token);
    await two.ask({ type: "get_state" });
    await one.ask({ type: "prompt", message: "hi" });
    const [, end] = await Promise.all(
      [one, two].map((client) => client.until(({ type }) => type === "prompt_result")),
    );
    expect(Object.keys(end ?? {})).toEqual(["type", "id", "status"]);
    const opened = await one.ask({ type: "open_session" });
    expect(opened).toMatchObject({ success: false });
  });

  it("each get the diagnostics of the one session once", async () => {
    const files = { "agent/settings.json": '{"noSuchSetting": 1}' };
    const { unixUrl } = await listeningHost({ scenario, files }, { isMany: false });
    for (const client of [await FrameClient.connect(unixUrl), await FrameClient.connect(unixUrl)]) {
      await client.ask({ type: "initialize" });
      await client.ask({ type: "initialize" });
      await client.ask({ type: "get_state" });
      expect(client.frames.filter(({ type }) => type === "diagnostic")).toHaveLength(1);
    }
  });

  it("can be resumed with a standard EventSource where they were cut", async () => {
    const { http, token, unixUrl } = await listeningHost({ scenario });
    const client = await FrameClient.connect(unixUrl);
    const sessionId = await client.open();
    const address = `${http}/sessions/${sessionId}/events`;
    const read = (source: EventSource) => {
      const seen: { id: string; frame: Frame }[] = [];
      onTestFinished(() => source.close());
      source.onmessage = ({ data, lastEventId }) =>
        seen.push({ id: lastEventId, frame: JSON.parse(data) });
      const until = (type: string) =>
        expect.poll(() => seen.some(({ frame }) => frame.type === type)).toBe(true);
      return { seen, until };
    };
    const whole = read(new EventSource(`${address}?access_token=${token}`));
    await whole.until("live");
    await client.ask({ type: "prompt", message: "hi", sessionId });
    await whole.until("prompt_result");
    const cut = whole.seen.findIndex(({ frame }) => frame.type === "message_end");
    const cursor = whole.seen[cut]?.id ?? "";
    const late = read(
      new EventSource(address, {
        fetch: (url, init) =>
          fetch(url, {
            ...init,
            headers: {
              ...init.headers,
              authorization: `Bearer ${token}`,
              "last-event-id": cursor,
            },
          }),
      }),
    );
    await late.until("live");
    const ends = (frames: readonly { frame: Frame }[]) =>
      frames
        .map(({ frame }) => frame)
        .filter(({ type }) => /_(start|end|result)$/.test(String(type)));
    expect(ends(late.seen)).toEqual(ends(whole.seen.slice(cut + 1)));
  });

  it("are disconnected if they do not read, and delay nobody", async () => {
    const text = "x".repeat(1_000_000);
    // Each reply is sent several times, in different frames: three replies exceed the limit of unread data.
    const long = { type: "text" as const, text, chunkSize: text.length };
    const slowScenario = [{ repeat: true, content: [long] }];
    const { unixUrl } = await listeningHost({ scenario: slowScenario });
    const fast = await FrameClient.connect(unixUrl);
    const sessionId = await fast.open();
    const slow = createConnection(unixUrl.slice("unix:".length));
    slow.write(`${JSON.stringify({ type: "attach", sessionId })}\n`);
    const isCut = new Promise<void>((resolve) => {
      slow.on("close", () => resolve());
      slow.on("error", () => {});
    });
    slow.pause();
    const { data } = await fast.ask({ type: "list_sessions" });
    expect(data).toMatchObject({ sessions: [{ sessionId }] });
    for (let count = 0; count < 5; count += 1) {
      const from = fast.frames.length;
      await fast.ask({ type: "prompt", message: "go", sessionId });
      await fast.until(({ type }) => type === "prompt_result", from);
    }
    slow.resume();
    await isCut;
  });
});

describe("a request of a host to which nobody is connected", () => {
  const asking = [
    { content: [{ type: "toolCall", name: "bash", arguments: { command: "true" } }] },
    { content: "Done." },
  ];

  it("stays open for a client that returns", async () => {
    const { unixUrl } = await listeningHost({
      scenario: asking as never,
      arguments: ["--permission-mode", "ask"],
    });
    const capabilities = { hostRequests: true };
    const first = await FrameClient.connect(unixUrl);
    await first.ask({ type: "initialize", capabilities });
    const sessionId = await first.open();
    await first.ask({ type: "prompt", message: "go", sessionId });
    const { id } = await first.until(({ type }) => type === "host_request");
    first.close();
    await first.ended();
    const second = await FrameClient.connect(unixUrl);
    await second.ask({ type: "initialize", capabilities });
    const { data } = await second.ask({ type: "attach", sessionId });
    expect(data).toMatchObject({ pendingRequests: [{ id, method: "tool_approval" }] });
    second.send({ type: "host_response", id, result: { decision: "allow" }, sessionId });
    expect(await second.until(({ type }) => type === "prompt_result")).toMatchObject({
      status: "completed",
    });
    const asked = second.frames.filter(({ type }) => type === "host_request");
    expect(asked).toEqual([]);
    second.send({ type: "host_response", id, result: { decision: "deny" }, sessionId });
    expect(await second.until(({ command }) => command === "host_response")).toMatchObject({
      code: "request_closed",
    });
  });

  it("ends when the client that runs its tools does not return", async () => {
    const { unixUrl } = await listeningHost({
      scenario: [
        { content: [{ type: "toolCall", name: "ticket", arguments: {} }] },
        { content: "Done." },
      ] as never,
      files: { "agent/settings.json": JSON.stringify({ "listen.graceMs": 100 }) },
    } as never);
    const first = await FrameClient.connect(unixUrl);
    const sessionId = await first.open();
    const tool = { name: "ticket", description: "A ticket.", parameters: { type: "object" } };
    await first.ask({ type: "set_host_tools", tools: [tool], sessionId });
    const second = await FrameClient.connect(unixUrl);
    await second.ask({ type: "attach", sessionId });
    await first.ask({ type: "prompt", message: "go", sessionId });
    await first.until(({ type }) => type === "host_tool_call");
    first.close();
    const end = await second.until(({ type }) => type === "tool_execution_end");
    expect(end).toMatchObject({ isError: true });
    expect(second.frames.some(({ type }) => type === "host_tool_call")).toBe(false);
  });

  it.each([
    ["comes back", 60_000, false],
    ["stays away", 100, true],
  ])("is sent once to a client that serves URIs and %s", async (_, graceMs, isError) => {
    const { unixUrl } = await listeningHost({
      scenario: [
        { content: [{ type: "toolCall", name: "read", arguments: { path: "db://a" } }] },
        { content: "Done." },
      ] as never,
      files: { "agent/settings.json": JSON.stringify({ "listen.graceMs": graceMs }) },
    } as never);
    const first = await FrameClient.connect(unixUrl);
    const sessionId = await first.open();
    const declaration = { type: "set_host_uri_schemes", schemes: [{ scheme: "db" }], sessionId };
    await first.ask(declaration);
    const second = await FrameClient.connect(unixUrl);
    await second.ask({ type: "attach", sessionId });
    await first.ask({ type: "prompt", message: "go", sessionId });
    const { id } = await first.until(({ type }) => type === "host_uri_request");
    first.close();
    if (!isError) {
      const third = await FrameClient.connect(unixUrl);
      const { data } = await third.ask({ type: "attach", sessionId });
      expect(data).toMatchObject({ pendingRequests: [{ id, method: "host_uri" }] });
      await third.ask(declaration);
      third.send({ type: "host_uri_result", id, content: "A row.", sessionId });
    }
    const end = await second.until(({ type }) => type === "tool_execution_end");
    expect(end).toMatchObject({ isError });
    const text = isError ? "the client that serves it has left" : "A row.";
    expect(JSON.stringify(end.result)).toContain(text);
    expect(second.frames.some(({ type }) => type === "host_uri_request")).toBe(false);
  });
});

describe("the end of a listening host", () => {
  it("drains on SIGTERM and exits with 0", async () => {
    const { host, unixUrl, http } = await listeningHost({
      scenario: [{ content: "Hello.", delayMs: 300 }] as never,
    });
    const client = await FrameClient.connect(unixUrl);
    const sessionId = await client.open();
    await client.ask({ type: "prompt", message: "hi", sessionId });
    await client.until(({ type }) => type === "agent_start");
    host.child.kill("SIGTERM");
    expect((await client.until(({ type }) => type === "prompt_result")).status).toBe("completed");
    await client.until(({ type }) => type === "session_closed");
    expect((await host.ended).code).toBe(0);
    await expect(fetch(`${http}/healthz`)).rejects.toThrow();
  });

  it("closes a session that nobody uses", async () => {
    const { unixUrl } = await listeningHost({
      scenario,
      arguments: ["--session-idle-ms", "50"],
    });
    const client = await FrameClient.connect(unixUrl);
    const sessionId = await client.open();
    await client.ask({ type: "detach", sessionId });
    await expect
      .poll(async () => (await client.ask({ type: "list_sessions" })).data)
      .toEqual({ sessions: [] });
    expect(await client.ask({ type: "get_state", sessionId })).toMatchObject({
      code: "unknown_session",
    });
  });

  it("does not let another listener replace a running one", async () => {
    const place = makePlace({ scenario });
    const folder = join(place.folder, "own");
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, "other.sock");
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    const host = startHost({ arguments: ["--listen", `unix:${path}`] });
    expect((await host.ended).code).toBe(1);
    place.remove();
  });
});
