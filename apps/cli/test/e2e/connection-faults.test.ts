import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";

const PING = 0x89;
const scenario = [
  { content: [{ type: "toolCall", name: "bash", arguments: { command: "sleep 1" } }] },
  "done",
] as never;

interface Access {
  readonly url: string;
  readonly token: string;
}

/** A raw WebSocket: performs the handshake, then sends whatever bytes a test needs. */
async function rawSocket({ url, token }: Access): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  const head = [
    "GET /rpc HTTP/1.1",
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`,
    `Authorization: Bearer ${token}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString("latin1")).toContain("101 Switching Protocols");
  return socket;
}

/** A masked frame, as clients must send it. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const head = Buffer.from([opcode, 0x80 | payload.length, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}

it("a vanished peer is dropped after two pings, and its run continues", async () => {
  const files = { "agent/settings.json": JSON.stringify({ "listen.pingMs": 100 }) };
  const access = await listeningHost({ scenario, files });
  const watcher = await FrameClient.connect(access.url, access.token);
  const sessionId = await watcher.open();
  const vanished = await rawSocket(access);
  let pings = 0;
  vanished.on("data", (bytes: Buffer) => {
    if (bytes[0] === PING) pings += 1;
  });
  // Starts a run, then answers nothing: no pong, no FIN.
  const prompt = JSON.stringify({ type: "prompt", message: "go", sessionId });
  vanished.write(frameOf(0x81, Buffer.from(prompt)));
  await once(vanished, "close");
  expect(pings).toBeGreaterThan(0);
  // A client that answers pings stays connected.
  expect(await watcher.until(({ type }) => type === "prompt_result")).toMatchObject({
    status: "completed",
  });
  expect(watcher.closedWith).toBeUndefined();
});

const huge = Buffer.alloc(10, 0xff);
huge.set([0x81, 0xff]);

it("broken framing ends only its own connection", async () => {
  const access = await listeningHost({ scenario: ["done"] as never });
  const other = await FrameClient.connect(access.url, access.token);
  const sessionId = await other.open();
  const broken = {
    "a frame without a mask": Buffer.from([0x81, 0x02, 0x7b, 0x7d]),
    "a reserved opcode": frameOf(0x83, Buffer.from("{}")),
    "reserved bits": frameOf(0xf1, Buffer.from("{}")),
    "a long control frame": Buffer.concat([Buffer.from([0x89, 0xfe, 0, 200]), Buffer.alloc(204)]),
    "a control frame in parts": frameOf(0x09, Buffer.from("x")),
    "a continuation of nothing": frameOf(0x80, Buffer.from("{}")),
    "text that is not UTF-8": frameOf(0x81, Buffer.from([0xc3, 0x28])),
    "a length beyond all bounds": huge,
    "HTTP instead of frames": Buffer.from("GET / HTTP/1.1\r\n\r\n"),
  };
  for (const [what, bytes] of Object.entries(broken)) {
    const socket = await rawSocket(access);
    const closed = once(socket, "close");
    socket.write(bytes);
    socket.resume();
    await closed;
    const { success } = await other.ask({ type: "get_state", sessionId });
    expect([what, success]).toEqual([what, true]);
  }
});

it("incomplete lines and requests are discarded with their connections", async () => {
  const access = await listeningHost({ scenario: ["done"] as never });
  const path = access.unixUrl.slice("unix:".length);
  for (const to of [{ path }, { port: Number(new URL(access.url).port), host: "127.0.0.1" }]) {
    const socket = connect(to as { path: string });
    await once(socket, "connect");
    socket.write('{"type":"open_session","cwd":"/');
    socket.destroy();
  }
  const client = await FrameClient.connect(access.unixUrl);
  const { data } = await client.ask({ type: "list_sessions" });
  expect(data).toEqual({ sessions: [] });
  expect(access.host.stderr).toBe("");
});
