import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ByteSource } from "./reply.ts";
import { endOfReply, type ServerEvent, ServerEvents } from "./server-events.ts";

afterEach(() => vi.useRealTimers());

/** A body that arrives in these pieces; records whether it was cancelled. */
function body(pieces: Iterable<string | Uint8Array>, staysOpen = false) {
  const rest = pieces[Symbol.iterator]();
  const seen = { reads: 0, isCancelled: false };
  const source: ByteSource = {
    read(resolve) {
      seen.reads += 1;
      const { done, value } = rest.next();
      if (!done) {
        const piece = typeof value === "string" ? Buffer.from(value) : value;
        resolve({ done: false, value: piece });
      } else if (!staysOpen) resolve({ done: true, value: undefined });
    },
    async return() {
      seen.isCancelled = true;
    },
  };
  return { source, seen };
}

const asIs = (event: ServerEvent) => event;
const untilDone = (event: ServerEvent) => (event.data === "[DONE]" ? endOfReply : event.data);

async function read<Value>(events: ServerEvents<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for await (const value of events) values.push(value);
  return values;
}

const text = fc.constantFrom("", "x", "a: b", "é", "😀", " spaced");
const written = fc.record({
  event: fc.constantFrom("", "ping"),
  lines: fc.array(text, { minLength: 1 }),
});

describe("ServerEvents", () => {
  it("reads the same events however their bytes are split and their lines end", async () => {
    const check = fc.asyncProperty(
      fc.array(written),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.integer({ min: 1, max: 9 }),
      async (events, end, size) => {
        const lines = events.flatMap(({ event, lines: data }) => [
          ...(event === "" ? [] : [`event: ${event}`]),
          ": a comment",
          ...data.map((line) => `data: ${line}`),
          "",
        ]);
        const bytes = Buffer.from(lines.map((line) => line + end).join(""));
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        const expected = events.map(({ event, lines: data }) => ({ event, data: data.join("\n") }));
        expect(await read(new ServerEvents(body(pieces).source, asIs))).toEqual(expected);
      },
    );
    await fc.assert(check);
  });

  it("accepts a last event without its empty line", async () => {
    const { source } = body(["data:1\n\ndata:2"]);
    expect(await read(new ServerEvents(source, ({ data }) => data))).toEqual(["1", "2"]);
  });

  it("returns what has arrived without a promise", async () => {
    const { source } = body(["data: 1\n\ndata: 2\n\nda", "ta: 3\n\n"]);
    const events = new ServerEvents(source, ({ data }) => data);
    expect(events.take()).toBeUndefined();
    expect(await events.next()).toEqual({ done: false, value: "1" });
    expect([events.take(), events.take()]).toEqual(["2", undefined]);
    expect(await events.next()).toEqual({ done: false, value: "3" });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it("lets the event loop turn during a burst", async () => {
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    const { source } = body(["data: x\n\n".repeat(50)]);
    const turns: boolean[] = [];
    const events = new ServerEvents(source, ({ data }) => {
      const until = performance.now() + 1;
      while (performance.now() < until);
      turns.push(hasTurned);
      return data;
    });
    expect(await read(events)).toHaveLength(50);
    expect([turns[0], turns.at(-1)]).toEqual([false, true]);
  });

  it("ends at the last event and reads the body to its end", async () => {
    const { source, seen } = body(["data: 1\n\ndata: [DONE]\n\n", "\n", "\n"]);
    expect(await read(new ServerEvents(source, untilDone))).toEqual(["1"]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual({ reads: 4, isCancelled: false });
  });

  it("cancels a body that does not end within a second of its last event", async () => {
    vi.useFakeTimers();
    const { source, seen } = body(["data: [DONE]\n\n"], true);
    await read(new ServerEvents(source, untilDone));
    await vi.advanceTimersByTimeAsync(900);
    expect(seen.isCancelled).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(seen.isCancelled).toBe(true);
  });

  it("cancels a body that is abandoned before its end", async () => {
    const { source, seen } = body(["data: 1\n\n", "data: 2\n\n"]);
    for await (const _ of new ServerEvents(source, ({ data }) => data)) break;
    expect(seen).toEqual({ reads: 1, isCancelled: true });
  });

  it("passes on the error that interrupts a body", async () => {
    const { source } = body(["data: 1\n\n"]);
    const broken: ByteSource = {
      ...source,
      read: (_resolve, reject) => reject(new TypeError("terminated")),
    };
    await expect(read(new ServerEvents(broken, asIs))).rejects.toThrow("terminated");
  });
});
