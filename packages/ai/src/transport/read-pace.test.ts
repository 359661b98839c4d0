import { EventEmitter, once } from "node:events";
import { type IncomingMessage, get as plainGet, createServer as plainServer } from "node:http";
import { get as secureGet, createServer as secureServer } from "node:https";
import { type AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { ReadPace } from "./read-pace.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Send = (write: (text: string) => void) => Promise<void>;

/** TLS with a shared key needs no certificate. */
const psk = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
const key = Buffer.alloc(32, 1);

/** The reply of a server that sends its body as `send` does. */
async function request(protocol: "http" | "https", send: Send): Promise<IncomingMessage> {
  const listener: Parameters<typeof plainServer>[1] = (_, response) => {
    response.flushHeaders();
    void send((text) => response.write(text)).then(() => response.end());
  };
  const server =
    protocol === "http"
      ? plainServer(listener)
      : secureServer({ ...psk, pskCallback: () => key }, listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const pskCallback = () => ({ psk: key, identity: "test" });
  const secured = { ...psk, pskCallback, checkServerIdentity: () => undefined };
  const asked = protocol === "http" ? plainGet(url) : secureGet(url, secured);
  const [reply] = (await once(asked, "response")) as [IncomingMessage];
  return reply;
}

/** Lets a pace follow so many replies of which nothing arrives; the function ends them. */
function follow(pace: ReadPace, count: number): () => void {
  const replies = Array.from({ length: count }, () =>
    Object.assign(new EventEmitter(), { socket: new Socket() }),
  );
  for (const reply of replies) pace.follow(reply as unknown as IncomingMessage);
  return () => {
    for (const reply of replies) reply.emit("end");
    for (const reply of replies) reply.emit("close");
  };
}

/** Reads a body, and counts the turns of the event loop in which pieces of it arrived. */
async function read(pace: ReadPace, reply: IncomingMessage, onText?: () => void) {
  const followed = pace.follow(reply);
  let text = "";
  let reads = 0;
  let hasTurned = true;
  reply.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (hasTurned) {
      reads += 1;
      setImmediate(() => {
        hasTurned = true;
      });
    }
    hasTurned = false;
    followed();
    onText?.();
  });
  await once(reply, "end");
  return { text, reads };
}

describe.each(["http", "https"] as const)("ReadPace over %s", (protocol) => {
  it("reads what gathered of each of many replies", async () => {
    const pace = new ReadPace();
    follow(pace, 99);
    const reply = await request(protocol, async (write) => {
      for (let count = 0; count < 40; count += 1) {
        write(`${count} `);
        await sleep(5);
      }
    });
    const began = performance.now();
    const { text, reads } = await read(pace, reply);
    expect(text).toBe(Array.from({ length: 40 }, (_, count) => `${count} `).join(""));
    expect(reads).toBeLessThan((performance.now() - began) / 40 + 3);
  });

  it("reads each delta of few replies when it arrives", async () => {
    const pace = new ReadPace();
    follow(pace, 90);
    const seen = new EventEmitter();
    const reply = await request(protocol, async (write) => {
      await sleep(20);
      for (let count = 0; count < 10; count += 1) {
        const arrived = once(seen, "text");
        write("x");
        await arrived;
      }
    });
    const { text, reads } = await read(pace, reply, () => seen.emit("text"));
    expect(text).toHaveLength(10);
    expect(reads).toBeGreaterThanOrEqual(10);
  });

  it("ends a connection that rests", async () => {
    const pace = new ReadPace();
    follow(pace, 99);
    const reply = await request(protocol, async (write) => {
      for (;;) {
        write("x");
        await sleep(5);
        if (reply.destroyed) return;
      }
    });
    const followed = pace.follow(reply);
    await new Promise<void>((resolve) => {
      reply.once("data", () => {
        followed();
        resolve();
      });
    });
    reply.on("error", () => undefined).destroy();
    await sleep(100);
    expect(reply.socket.destroyed).toBe(true);
    expect(pace.gathers).toBe(false);
  });
});

describe("ReadPace", () => {
  it("counts each reply until it has ended", () => {
    const pace = new ReadPace();
    const end = follow(pace, 60);
    expect(pace.gathers).toBe(false);
    follow(pace, 50);
    expect(pace.gathers).toBe(true);
    end();
    expect(pace.gathers).toBe(false);
    follow(pace, 50);
    expect(pace.gathers).toBe(true);
  });

  it("reads a connection again once its reply has ended", () => {
    const pace = new ReadPace();
    follow(pace, 99);
    let reads = 0;
    const socket = new Readable({
      read: () => {
        reads += 1;
      },
    });
    const reply = Object.assign(new EventEmitter(), { socket }) as unknown as IncomingMessage;
    pace.follow(reply)();
    expect(socket.push("last")).toBe(false);
    socket.read();
    expect(reads).toBe(0);
    reply.emit("end");
    expect(reads).toBe(1);
  });
});
