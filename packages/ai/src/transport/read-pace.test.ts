import { EventEmitter, once } from "node:events";
import {
  type IncomingMessage,
  Agent as PlainAgent,
  get as plainGet,
  createServer as plainServer,
} from "node:http";
import { Agent as SecureAgent, get as secureGet, createServer as secureServer } from "node:https";
import { type AddressInfo, type OnReadOpts, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ReadPace } from "./read-pace.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Send = (write: (text: string) => void) => Promise<void>;

/** TLS with a shared key needs no certificate. */
const psk = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
const key = Buffer.alloc(32, 1);

type Protocol = "http" | "https";

/** Requests replies over one connection from a server that sends their bodies as `send` does. */
async function connect(pace: ReadPace, protocol: Protocol, send: Send) {
  const listener: Parameters<typeof plainServer>[1] = (_, response) => {
    response.flushHeaders();
    void send((text) => response.write(text)).then(() => response.end());
  };
  const server =
    protocol === "http"
      ? plainServer(listener)
      : secureServer({ ...psk, pskCallback: () => key }, listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = protocol === "http" ? new PlainAgent(options) : new SecureAgent(options);
  pace.applyTo(agent);
  closing.push(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const pskCallback = () => ({ psk: key, identity: "test" });
  const secured = { ...psk, pskCallback, checkServerIdentity: () => undefined };
  return async (): Promise<IncomingMessage> => {
    const asked =
      protocol === "http" ? plainGet(url, { agent }) : secureGet(url, { agent, ...secured });
    const [reply] = (await once(asked, "response")) as [IncomingMessage];
    return reply;
  };
}

async function request(pace: ReadPace, protocol: Protocol, send: Send): Promise<IncomingMessage> {
  const ask = await connect(pace, protocol, send);
  return ask();
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

/** Reads a body, and counts how often pieces of it were passed on. */
async function read(pace: ReadPace, reply: IncomingMessage, onText?: () => void) {
  const followed = pace.follow(reply);
  let text = "";
  let reads = 0;
  const passOn = (): void => {
    reads += 1;
    onText?.();
  };
  reply.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    followed(passOn);
  });
  await once(reply, "end");
  return { text, reads };
}

describe.each(["http", "https"] as const)("ReadPace over %s", (protocol) => {
  it("reads what gathered of each of many replies", async () => {
    const pace = new ReadPace();
    follow(pace, 99);
    const reply = await request(pace, protocol, async (write) => {
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
    const reply = await request(pace, protocol, async (write) => {
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
    const reply = await request(pace, protocol, async (write) => {
      for (;;) {
        write("x");
        await sleep(5);
        if (reply.destroyed) return;
      }
    });
    const followed = pace.follow(reply);
    await new Promise<void>((resolve) => {
      reply.once("data", () => {
        followed(resolve);
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
    const resume = vi.fn();
    const socket = Object.assign(new Socket(), { resume });
    const agent = new PlainAgent();
    agent.createConnection = (options) => Object.assign(socket, options);
    pace.applyTo(agent);
    agent.createConnection({});
    const { onread } = socket as unknown as { onread: OnReadOpts };
    const reply = Object.assign(new EventEmitter(), { socket }) as unknown as IncomingMessage;
    const followed = pace.follow(reply);
    socket.on("data", () => followed(() => undefined));

    resume.mockClear();
    expect(onread.callback(1, new Uint8Array(1))).toBe(false);
    socket.resume();
    expect(resume).not.toHaveBeenCalled();
    reply.emit("end");
    expect(resume).toHaveBeenCalledOnce();
  });

  it("reads a connection again that was paused while it rested", async () => {
    const pace = new ReadPace();
    follow(pace, 99);
    const reply = await request(pace, "http", async (write) => {
      for (let count = 0; count < 20; count += 1) {
        write("x");
        await sleep(5);
      }
    });
    reply.once("data", () => {
      reply.pause();
      setTimeout(() => reply.resume(), 60);
    });
    expect((await read(pace, reply)).text).toHaveLength(20);
  });
});
