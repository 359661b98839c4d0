import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLoopbackServer, type Turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { nextLike } from "../support/next-like.ts";
import { startHost } from "../support/start-host.ts";

const scenario: Turn[] = [{ repeat: true, content: "Hello." }];
const slow = { type: "text" as const, text: "word ".repeat(100), chunkSize: 5, delayMs: 20 };

function start(setup: { arguments?: string[]; scenario?: Turn[] } = {}) {
  const given = setup.arguments ?? [];
  const host = startHost({ scenario, ...setup, arguments: ["--sessions", ...given] });
  let nextId = 1;
  const ask = async (command: object) => {
    const id = `q${nextId}`;
    nextId += 1;
    host.send({ id, ...command });
    return nextLike(host, { id, type: "response" });
  };
  const open = async (params: object = {}) => {
    const { data } = await ask({ type: "open_session", ...params });
    return (data as { sessionId: string }).sessionId;
  };
  return { host, ask, open };
}

const folderIn = (place: { folder: string }, name: string): string => {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  return realpathSync(folder);
};

describe("a host with many sessions", () => {
  it("starts without sessions and refuses commands that name none", async () => {
    const { ask } = start();
    expect(await ask({ type: "list_sessions" })).toMatchObject({ data: { sessions: [] } });
    const codes = [];
    for (const command of [
      { type: "get_state" },
      { type: "attach" },
      { type: "get_state", sessionId: "none" },
      { type: "get_state", sessionId: 7 },
      { type: "no_such_command" },
      { type: "open_session", cwd: "relative" },
      { type: "open_session", cwd: "/no/such/folder" },
      { type: "open_session", sessionPath: "relative.jsonl" },
      { type: "open_session", sessionPath: "/no/such/folder/file.jsonl" },
      { type: "open_session", projectKey: "../elsewhere" },
    ]) {
      codes.push((await ask(command)).code);
    }
    expect(codes).toEqual([
      "missing_session_id",
      "missing_session_id",
      "unknown_session",
      "invalid_params",
      "unknown_command",
      "invalid_path",
      "invalid_path",
      "invalid_path",
      "invalid_path",
      "invalid_params",
    ]);
  });

  it("gives each its own folder, environment and settings", async () => {
    const { host, ask, open } = start();
    const folders = ["one", "two"].map((name) => folderIn(host.place, name));
    const sessions: string[] = [];
    for (const cwd of folders) {
      sessions.push(await open({ cwd, environment: { WHO: `in ${cwd}`, PATH: process.env.PATH } }));
    }
    const outputs = [];
    for (const sessionId of sessions) {
      await ask({ type: "set_auto_compaction", enabled: sessionId !== sessions[0], sessionId });
      const { data } = await ask({ type: "bash", command: "echo $WHO; pwd", sessionId });
      outputs.push((data as { output: string }).output);
    }
    expect(outputs).toEqual(folders.map((cwd) => `in ${cwd}\n${cwd}\n`));
    const states = [];
    for (const sessionId of sessions) {
      const { data } = await ask({ type: "get_state", sessionId });
      states.push((data as { autoCompactionEnabled: boolean }).autoCompactionEnabled);
    }
    expect(states).toEqual([false, true]);
    const { data } = await ask({ type: "list_sessions" });
    expect(data).toMatchObject({
      sessions: folders.map((cwd, at) => ({ cwd, sessionId: sessions[at], status: "idle" })),
    });
  });

  it("names the session in each of its frames and numbers them from 1", async () => {
    const { host, open } = start();
    const sessionId = await open();
    host.send({ id: "p", type: "prompt", message: "hi", sessionId });
    const seqs: unknown[] = [];
    for (;;) {
      const frame = await host.frames.next();
      expect(frame).toMatchObject({ sessionId });
      if (frame?.type === "response") continue;
      seqs.push(frame?.seq);
      if (frame?.type === "prompt_result") break;
    }
    expect(seqs[0]).toBe(1);
    expect(seqs).toEqual(seqs.toSorted((a, b) => Number(a) - Number(b)));
  });

  it("ends a session with the answer to close_session and never reuses its handle", async () => {
    const { host, ask, open } = start();
    const sessionId = await open();
    host.send({ id: "p", type: "prompt", message: "hi", sessionId });
    host.send({ id: "c", type: "close_session", sessionId });
    host.send({ id: "late", type: "get_state", sessionId });
    expect(await nextLike(host, { id: "late" })).toMatchObject({ code: "session_closing" });
    expect(await nextLike(host, { id: "c" })).toMatchObject({ success: true, sessionId });
    expect(await ask({ type: "get_state", sessionId })).toMatchObject({ code: "unknown_session" });
    expect(await open()).not.toBe(sessionId);
  });

  it("opens no file twice, however its path is written", async () => {
    const { host, ask, open } = start();
    const sessionPath = join(folderIn(host.place, "files"), "a.jsonl");
    const sessionId = await open({ sessionPath });
    const link = join(host.place.folder, "link");
    symlinkSync(join(host.place.folder, "files"), link);
    const inUse = { success: false, code: "session_path_in_use" };
    expect(await ask({ type: "open_session", sessionPath: join(link, "a.jsonl") })).toMatchObject(
      inUse,
    );
    const other = await open({ durableSessionId: "mine" });
    expect(await ask({ type: "open_session", durableSessionId: "mine" })).toMatchObject(inUse);
    const change = { type: "switch_session", sessionPath: join(link, "a.jsonl") };
    expect(await ask({ ...change, sessionId: other })).toMatchObject(inUse);
    await ask({ type: "close_session", sessionId });
    expect(await ask({ type: "open_session", sessionPath })).toMatchObject({ success: true });
  });

  it("replays the requested frames, or reports that it cannot", async () => {
    const { host, ask, open } = start();
    const sessionId = await open();
    host.send({ type: "prompt", message: "hi", sessionId });
    const { seq: last } = await nextLike(host, { type: "prompt_result" });
    const after = Number(last) - 2;
    const { data } = await ask({ type: "attach", sessionId, after });
    const { streamId } = data as { streamId: string };
    const seen = [];
    for (let frame = await host.frames.next(); ; frame = await host.frames.next()) {
      seen.push([frame?.type, frame?.seq]);
      if (frame?.type === "live") break;
    }
    expect(seen).toEqual([
      ["agent_settled", after + 1],
      ["prompt_result", after + 2],
      ["live", last],
    ]);
    for (const [cursor, reason] of [
      [{ after: 1, streamId: "another" }, "stream_changed"],
      [{ after: 10_000, streamId }, "cursor_ahead"],
    ] as const) {
      host.send({ type: "attach", sessionId, ...cursor });
      const resync = {
        type: "resync",
        sessionId,
        streamId,
        seq: last,
        reason,
        pendingRequests: [],
      };
      expect(await nextLike(host, { type: "resync" })).toMatchObject(resync);
      expect(await host.frames.next()).toEqual({ type: "live", sessionId, seq: last });
    }
  });

  it("lets each session choose the lifetime of its prompt caches", async () => {
    await using server = await startLoopbackServer({ scenario: () => "hi" });
    const baseUrl = server.urls["openai-responses"];
    const own = { baseUrl, api: "openai-responses", apiKey: "k", models: [{ id: "one" }] };
    const files = { "agent/models.json": JSON.stringify({ providers: { own } }) };
    const host = startHost({ files, arguments: ["--sessions", "--model", "own/one"] });
    for (const retention of ["none", "long", null]) {
      const environment = { PI_CACHE_RETENTION: retention };
      host.send({ id: "o", type: "open_session", environment });
      const { data } = await nextLike(host, { id: "o", type: "response" });
      const { sessionId } = data as { sessionId: string };
      host.send({ type: "prompt", message: "go", sessionId });
      await nextLike(host, { type: "prompt_result", sessionId });
    }
    const asked = server.requests.map(({ body }) => {
      const { prompt_cache_key: key, prompt_cache_retention: kept } = body as Record<
        string,
        unknown
      >;
      return [typeof key, kept];
    });
    expect(asked).toEqual([
      ["undefined", undefined],
      ["string", "24h"],
      ["string", undefined],
    ]);
  });

  it("keeps a session's event filter when the client repeats its settings for another session", async () => {
    const { host, ask, open } = start();
    const settings = { type: "initialize", stream: "delta" };
    const filtered = await open();
    await ask({ ...settings, sessionId: filtered });
    await ask({ type: "set_event_filter", events: ["agent_settled"], sessionId: filtered });
    const other = await open();
    await ask({ ...settings, sessionId: other });
    host.send({ id: "p", type: "prompt", message: "hi", sessionId: filtered });
    expect(await host.frames.next()).toMatchObject({ id: "p", success: true });
    expect(await host.frames.next()).toMatchObject({ type: "agent_settled", sessionId: filtered });
  });

  it("stops sending frames of a session from which a client has detached", async () => {
    const { host, ask, open } = start();
    const sessionId = await open();
    expect(await ask({ type: "detach", sessionId })).toMatchObject({ success: true });
    host.send({ id: "p", type: "prompt", message: "hi", sessionId });
    expect(await host.frames.next()).toMatchObject({ id: "p", success: true });
    let status = "running";
    while (status === "running") {
      const { data } = await ask({ type: "list_sessions" });
      status = String((data as { sessions: { status: string }[] }).sessions[0]?.status);
    }
    const { data } = await ask({ type: "attach", sessionId });
    expect(await host.frames.next()).toEqual({
      type: "live",
      sessionId,
      seq: (data as { seq: number }).seq,
    });
  });

  it("accepts no prompt while it drains, and reports where its sessions ended", async () => {
    const { host, ask, open } = start({ scenario: [{ content: [slow] }] });
    const sessionId = await open();
    host.send({ id: "p", type: "prompt", message: "hi", sessionId });
    await nextLike(host, { type: "agent_start" });
    host.send({ id: "d", type: "drain" });
    host.send({ id: "n", type: "prompt", message: "more", sessionId });
    expect(await nextLike(host, { id: "n" })).toMatchObject({ code: "draining" });
    const { status } = await nextLike(host, { type: "prompt_result" });
    expect(status).toBe("completed");
    expect(await nextLike(host, { type: "session_closed" })).toEqual({
      type: "session_closed",
      sessionId,
      reason: "drain",
    });
    const { data } = await nextLike(host, { id: "d" });
    expect(data).toMatchObject({ sessions: [{ sessionId, seq: expect.any(Number) }] });
    expect(await ask({ type: "open_session" })).toMatchObject({ code: "draining" });
    expect((await host.finish()).code).toBe(0);
  });

  it("drains when a session's client asks, and answers with the session's handle", async () => {
    const { ask, open } = start();
    const sessionId = await open();
    expect(await ask({ type: "drain", sessionId })).toMatchObject({
      success: true,
      sessionId,
      data: { sessions: [{ sessionId }] },
    });
  });

  it("refuses commands with draining, whatever session they name", async () => {
    const { host, open } = start();
    const [busy, idle] = [await open(), await open()];
    host.send({ id: "p", type: "prompt", message: "hi", sessionId: busy });
    await nextLike(host, { type: "agent_start" });
    host.send({ id: "d", type: "drain" });
    await nextLike(host, { type: "session_closed", sessionId: idle });
    const others = [{ sessionId: idle }, { sessionId: "nobody" }, {}, { sessionId: busy }];
    for (const [id, other] of others.entries()) {
      host.send({ id, type: "prompt", message: "more", ...other });
      expect(await nextLike(host, { id })).toMatchObject({ code: "draining" });
    }
    host.send({ id: "a", type: "attach", sessionId: idle });
    expect(await nextLike(host, { id: "a" })).toMatchObject({ code: "draining" });
    expect((await host.finish()).code).toBe(0);
  });

  it("opens no session if the settings cannot be read", async () => {
    const { host, ask } = start();
    const agent = folderIn(host.place, "broken-agent");
    writeFileSync(join(agent, "settings.json"), "{ broken");
    const environment = { PI_CODING_AGENT_DIR: agent };
    const refused = await ask({ type: "open_session", environment });
    expect(refused).toMatchObject({ success: false, code: "invalid_settings" });
    expect(refused.error).toContain(join(agent, "settings.json"));
    expect(await ask({ type: "open_session" })).toMatchObject({ success: true });
  });

  it("refuses options that apply to a single session", async () => {
    const { host } = start({ arguments: ["--continue"] });
    expect((await host.ended).code).toBe(1);
    expect(host.stderr).toContain("--continue");
  });
});

describe("a host with one session", () => {
  it("refuses to open others", async () => {
    const host = startHost({ scenario });
    host.send({ type: "initialize" });
    for (const type of ["open_session", "close_session", "attach", "detach"]) {
      host.send({ id: type, type, ...(type === "close_session" && { sessionId: "a" }) });
      expect(await nextLike(host, { id: type })).toMatchObject({ code: "multi_session_disabled" });
    }
  });

  it("drains", async () => {
    const host = startHost({ scenario });
    host.send({ type: "initialize" });
    host.send({ id: "p", type: "prompt", message: "hi" });
    await nextLike(host, { type: "agent_start" });
    host.send({ id: "d", type: "drain" });
    expect(await nextLike(host, { type: "prompt_result" })).toMatchObject({ status: "completed" });
    const { data } = await nextLike(host, { id: "d" });
    const { sessions } = data as { sessions: { sessionId: string; durableSessionId: string }[] };
    expect(sessions).toHaveLength(1);
    host.send({ id: "n", type: "prompt", message: "more" });
    expect(await nextLike(host, { id: "n" })).toMatchObject({ code: "draining" });
    expect((await host.finish()).code).toBe(0);
  });
});
