import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toEventStream } from "../testing/wire/event-stream.ts";
import { type ByteSource, only } from "../transport/reply.ts";
import { cutFrames } from "./frames.ts";

function sourceOf(pieces: readonly Uint8Array[]) {
  let at = 0;
  let isLeft = false;
  return {
    read(resolve: Parameters<ByteSource["read"]>[0]) {
      const value = pieces[at++];
      resolve(value === undefined ? { done: true, value } : { done: false, value });
    },
    return: async () => {
      isLeft = true;
    },
    get isLeft() {
      return isLeft;
    },
  };
}

async function read(pieces: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const frames: Uint8Array[] = [];
  for await (const frame of cutFrames(sourceOf(pieces))) frames.push(Uint8Array.from(frame));
  return frames;
}

describe("splitting an event stream", () => {
  it("yields the same messages however the stream is cut", async () => {
    const texts = fc.array(fc.string({ maxLength: 60 }), { maxLength: 8 });
    const sizes = fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (given, cuts) => {
        const each = given.map((text) =>
          toEventStream(`event: e\ndata: ${JSON.stringify({ text })}\n\n`),
        );
        const bytes = Buffer.concat(each);
        const pieces: Uint8Array[] = [];
        let from = 0;
        for (const size of cuts) {
          pieces.push(bytes.subarray(from, from + size));
          from += size;
        }
        pieces.push(bytes.subarray(from));
        expect(await read(pieces)).toEqual(each.map((frame) => Uint8Array.from(frame)));
      }),
    );
  });

  it("fails for a truncated message and for an impossible size", async () => {
    const bytes = toEventStream('event: e\ndata: {"a":1}\n\n');
    await expect(read([bytes.subarray(0, -1)])).rejects.toMatchObject({ code: "network" });
    await expect(read([Buffer.from("\0\0\0\x05")])).rejects.toThrow(/not an event/);
  });

  it("throws the error in a text sent instead of messages, however the text is cut", async () => {
    const event = toEventStream("event: e\ndata: {}\n\n");
    const bytes = Buffer.concat([event, Buffer.from("no credit")]);
    for (let at = 0; at <= bytes.length; at++) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
      await expect(read(pieces)).rejects.toThrow(/^no credit$/);
    }
    const endless = Array.from({ length: 100 }, () => Buffer.alloc(1024, "x"));
    await expect(read(endless)).rejects.toThrow(/^x{4000}…/);
  });

  it("stops reading when the consumer stops", async () => {
    const event = toEventStream("event: e\ndata: {}\n\n");
    const source = sourceOf([event, event]);
    for await (const _ of cutFrames(source)) break;
    expect(source.isLeft).toBe(true);
    expect(await cutFrames(only(new Uint8Array())).next()).toMatchObject({ done: true });
  });
});
