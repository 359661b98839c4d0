import { describe, expect, it } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { nextLike } from "../support/next-like.ts";
import { areGone, startHost } from "../support/start-host.ts";
import type { Frame } from "../support/test-client.ts";

const scenario = [{ repeat: true, content: "Hello." }];
const setup = { scenario, arguments: ["--isolate", "process"] };

async function processOf(client: FrameClient, sessionId: string): Promise<number> {
  const { data } = await client.ask({ type: "bash", command: "echo $PPID", sessionId });
  return Number((data as { output: string }).output);
}

describe("a session in its own process", () => {
  it("sends all its clients the same frames as any other session", async () => {
    const { host, unixUrl, url, token } = await listeningHost(setup);
    const one = await FrameClient.connect(unixUrl);
    const two = await FrameClient.connect(url, token);
    const { data } = await one.ask({ type: "open_session" });
    const { sessionId, streamId } = data as { sessionId: string; streamId: string };
    const other = await one.open();
    const attached = await two.ask({ type: "attach", sessionId });
    expect(attached).toMatchObject({ data: { streamId, seq: 0 }, sessionId });
    const pids = [await processOf(one, sessionId), await processOf(two, other)];
    expect(new Set([...pids, host.child.pid]).size).toBe(3);
    await one.ask({ type: "prompt", message: "hi", sessionId });
    const isEnd = ({ type }: Frame) => type === "prompt_result";
    await Promise.all([one.until(isEnd), two.until(isEnd)]);
    for (const client of [one, two]) {
      const events = client.frames.filter(({ type }) => type !== "response" && type !== "live");
      expect(new Set(events.map((frame) => frame.sessionId))).toEqual(new Set([sessionId]));
    }
    const { data: listed } = await two.ask({ type: "list_sessions" });
    expect(listed).toMatchObject({
      sessions: [
        { sessionId, status: "idle" },
        { sessionId: other, status: "idle" },
      ],
    });
    expect(await one.ask({ type: "close_session", sessionId })).toMatchObject({ success: true });
    expect(await two.until(({ type }) => type === "session_closed")).toMatchObject({
      sessionId,
      reason: "closed",
    });
    await expect
      .poll(async () => (await one.ask({ type: "get_state", sessionId })).code)
      .toBe("unknown_session");
    expect(one.frames.some(({ type }) => type === "session_closed")).toBe(false);
    host.child.kill("SIGTERM");
    expect((await host.ended).code).toBe(0);
    expect(await areGone(pids)).toBe(true);
  });

  it("is also served over HTTP", async () => {
    const { http, token } = await listeningHost(setup);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const post = async (command: object) => {
      const body = JSON.stringify(command);
      return (await (
        await fetch(`${http}/rpc`, { method: "POST", headers, body })
      ).json()) as Frame;
    };
    const { data } = await post({ type: "open_session" });
    const { sessionId, streamId } = data as { sessionId: string; streamId: string };
    const events = await fetch(`${http}/sessions/${sessionId}/events`, { headers });
    expect(await post({ id: 1, type: "prompt", message: "hi", sessionId })).toMatchObject({
      id: 1,
      success: true,
      sessionId,
    });
    let text = "";
    for await (const chunk of events.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.includes('"prompt_result"')) break;
    }
    expect(text).toContain(`id: ${streamId}:1\ndata: {"type":"agent_start"`);
  });

  it("does not affect other sessions when its process dies", async () => {
    const { unixUrl } = await listeningHost(setup);
    const client = await FrameClient.connect(unixUrl);
    const [first, second] = [await client.open(), await client.open()];
    process.kill(await processOf(client, first), "SIGKILL");
    const closed = await client.until(({ type }) => type === "session_closed");
    expect(closed).toEqual({ type: "session_closed", sessionId: first, reason: "error" });
    expect(await client.ask({ type: "get_state", sessionId: second })).toMatchObject({
      success: true,
    });
    await expect
      .poll(async () => (await client.ask({ type: "get_state", sessionId: first })).code)
      .toBe("unknown_session");
  });

  it("reports problems before it is opened", async () => {
    const { unixUrl } = await listeningHost(setup);
    const client = await FrameClient.connect(unixUrl);
    expect(await client.ask({ type: "open_session", cwd: "/no/such" })).toMatchObject({
      success: false,
      code: "invalid_path",
    });
  });

  it("sends one greeting, and is not reported as failed when its host ends", async () => {
    const host = startHost({
      ...setup,
      arguments: [...setup.arguments, "--sessions"],
      dialect: "pisces",
    });
    host.child.stdin.write('{"id":"1","type":"open_session"}\n');
    const { data } = await nextLike(host, { type: "response", id: "1" });
    const { sessionId } = data as { sessionId: string };
    host.child.stdin.write(`${JSON.stringify({ id: "2", type: "get_state", sessionId })}\n`);
    await nextLike(host, { type: "response", id: "2" });
    host.child.stdin.end();
    expect((await host.ended).code).toBe(0);
    expect(host.stdout.match(/"type":"ready"/g)).toHaveLength(1);
    expect(host.stdout).not.toContain("session_closed");
  });

  it("ends with its host", async () => {
    const { host, unixUrl } = await listeningHost(setup);
    const client = await FrameClient.connect(unixUrl);
    const pid = await processOf(client, await client.open());
    host.child.kill("SIGKILL");
    expect(await areGone([pid])).toBe(true);
  });
});
