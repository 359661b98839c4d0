import { join } from "node:path";
import { type RemoteEvent, RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../../packages/store-redis/test/free-port.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { listeningHost } from "../support/listening-host.ts";
import { makePlace } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";

const scenario = [{ repeat: true, content: "Hello from the model." }];

async function connect(...given: Parameters<typeof RpcClient.connect>) {
  const client = await RpcClient.connect(...given);
  onTestFinished(() => client.close());
  return client;
}

describe("a client of a listening host", () => {
  it("has several sessions, each with its own events and results", async () => {
    const { url, token } = await listeningHost({ scenario });
    const client = await connect(url, { token });
    const sessions = [await client.openSession(), await client.openSession()];
    const heard = sessions.map(() => new Set<unknown>());
    sessions.forEach((session, at) => {
      session.onEvent((event) => void heard[at]?.add(Reflect.get(event, "sessionId")));
    });
    const results = await Promise.all(sessions.map((session) => session.promptAndWait("hi")));
    expect(results.map(({ text }) => text)).toEqual([
      "Hello from the model.",
      "Hello from the model.",
    ]);
    expect(heard.map((ids) => [...ids])).toEqual(sessions.map(({ sessionId }) => [sessionId]));
    const { messages } = await sessions[0]!.getMessages();
    expect(messages).toHaveLength(2);
    expect(await client.openSessions()).toHaveLength(2);
    await sessions[0]!.close();
    await expect(sessions[0]!.getState()).rejects.toThrow("closed");
    expect(await client.openSessions()).toHaveLength(1);
  });

  it("rebuilds the streaming reply when it attaches", async () => {
    const text = "word ".repeat(200);
    const { unixUrl } = await listeningHost({
      scenario: [{ content: text, chunkSize: 20, delayMs: 5 }] as never,
    });
    const one = await connect(unixUrl);
    const session = await one.openSession();
    const running = session.promptAndWait("hi");
    await new Promise<void>((resolve) => {
      session.onEvent(({ type }) => type === "message_update" && resolve());
    });
    const two = await connect(unixUrl);
    const other = await two.attachSession(session.sessionId);
    const seen: string[] = [];
    other.onEvent((event) => {
      if (event.type !== "message_update" || event.message.role !== "assistant") return;
      const [block] = event.message.content;
      if (block?.type === "text") seen.push(block.text);
    });
    await other.waitForIdle();
    expect((await running).text.trim()).toBe(text.trim());
    expect(seen.every((part) => text.startsWith(part))).toBe(true);
  });

  it("uses the one session of a host without --sessions", async () => {
    const { unixUrl } = await listeningHost({ scenario }, { isMany: false });
    const client = await connect(unixUrl);
    expect((await client.promptAndWait("hi")).text).toBe("Hello from the model.");
    await expect(client.openSession()).rejects.toMatchObject({ code: "multi_session_disabled" });
  });

  it("fails without a token, with a wrong token, and if nobody listens", async () => {
    const { url, token: right } = await listeningHost({ scenario });
    const client = await RpcClient.connect(url, { token: right });
    const ends: unknown[] = [];
    client.onClose((error) => ends.push(error));
    await client.stop();
    expect(ends).toEqual([undefined]);
    const failure = (address: string, token?: string) =>
      RpcClient.connect(address, token === undefined ? {} : { token }).catch((error) => error);
    const wrong = await failure(url, "wrong-wrong-wrong");
    expect(wrong).toMatchObject({ code: "unauthorized" });
    expect(wrong.message).toBe(
      `Could not connect to ${url}: the host does not take this token (HTTP 401)`,
    );
    expect(wrong.stack).toContain(import.meta.filename);
    const port = await freePort();
    expect(await failure(`ws://127.0.0.1:${port}`, "any")).toMatchObject({
      code: "unreachable",
      message: `Could not connect to ws://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    const other = await failure(`${url}/healthz`, "any");
    expect(other).toMatchObject({ code: "refused", message: expect.stringContaining("HTTP 200") });
    expect(await failure("ws://192.0.2.1:1")).toMatchObject({ code: "no_token" });
    expect(await failure("unix:/no/such.sock")).toMatchObject({ code: "unreachable" });
  });
});

describe("a client that loses its connection", () => {
  it("has the same messages as one that stayed connected, wherever it is cut", async () => {
    const long = Array.from({ length: 12 }, (_, at) => `Line ${at} of the reply.`).join(" ");
    const { unixUrl, place } = await listeningHost({
      scenario: [
        {
          content: [long, { type: "toolCall", name: "ls", arguments: {} }],
          repeat: true,
          when: { hasToolResults: false },
        },
        { content: long, repeat: true, chunkSize: 7 },
      ] as never,
    });
    // Any sequence will do, as long as it is always the same.
    let random = 7;
    const nextBytes = () => {
      random = (random * 48_271) % 2_147_483_647;
      // More than the answers to a new connection and the largest frame together.
      return 10_000 + (random % 12_000);
    };
    const proxyPath = join(place.folder, "sockets", "proxy.sock");
    const proxy = cuttingProxy(unixUrl.slice("unix:".length), proxyPath, nextBytes);
    const steady = await connect(unixUrl);
    const session = await steady.openSession();
    const shaky = await connect(proxy.url, { reconnect: { maxMs: 20_000 } });
    const cut = await shaky.attachSession(session.sessionId);
    const follow = (target: typeof session) => {
      const ends: unknown[] = [];
      const reconnected: RemoteEvent[] = [];
      target.onEvent((event) => {
        if (event.type === "reconnected") reconnected.push(event);
        const isEnd = /^(message_end|tool_execution_end|prompt_result)$/.test(event.type);
        if (isEnd) ends.push([event.type, Reflect.get(event, "seq")]);
      });
      return { ends, reconnected };
    };
    const [whole, pieces] = [follow(session), follow(cut)];
    for (let count = 0; count < 15; count += 1) await session.promptAndWait("hi");
    await expect.poll(() => pieces.ends.length).toBe(whole.ends.length);
    expect(pieces.ends).toEqual(whole.ends);
    expect(proxy.cuts).toBeGreaterThan(5);
    expect(pieces.reconnected.length).toBeGreaterThan(0);
    expect(pieces.reconnected).toSatisfy((events: { resumed: boolean }[]) =>
      events.every(({ resumed }) => resumed),
    );
  });

  it("gets the result of its prompt and does not send the prompt twice", async () => {
    const { unixUrl, place } = await listeningHost({
      scenario: [{ repeat: true, content: "Hello from the model.", delayMs: 200 }] as never,
    });
    const path = join(place.folder, "sockets", "proxy.sock");
    const proxy = cuttingProxy(unixUrl.slice("unix:".length), path, () => Number.POSITIVE_INFINITY);
    const client = await connect(proxy.url);
    const session = await client.openSession();
    const result = session.promptAndWait("hi");
    proxy.cut();
    expect(await result).toMatchObject({ status: "completed", text: "Hello from the model." });
    const started = session.promptAndWait("again");
    await new Promise<void>((resolve) => {
      session.onEvent(({ type }) => type === "agent_start" && resolve());
    });
    proxy.cut();
    expect(await started).toMatchObject({ status: "completed" });
    const { messages } = await session.getMessages();
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  it("gives up after a while, and everything that waits fails", async () => {
    const { host, unixUrl } = await listeningHost({ scenario });
    const client = await connect(unixUrl, { reconnect: { maxMs: 200 } });
    const session = await client.openSession();
    const events = session.events();
    host.child.kill("SIGKILL");
    await expect(events.next()).rejects.toThrow("The connection was lost");
    await expect(session.getState()).rejects.toThrow("The connection was lost");
  });
});

describe("a client that starts its host with --sessions", () => {
  it("opens several sessions in the host", async () => {
    const place = makePlace({ scenario });
    const client = new RpcClient({
      cliPath: binPath,
      args: [...place.arguments.filter((word) => !/^(--mode|rpc)$/.test(word)), "--sessions"],
      cwd: place.cwd,
      env: place.variables,
    });
    onTestFinished(async () => {
      await client.stop();
      place.remove();
    });
    await client.start();
    const sessions = await Promise.all([client.openSession(), client.openSession()]);
    const results = await Promise.all(sessions.map((session) => session.promptAndWait("hi")));
    expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
    await sessions[0]!.close();
    expect((await sessions[1]!.getState()).messageCount).toBe(2);
  });
});
