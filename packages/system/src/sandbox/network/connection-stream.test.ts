import { createHash, randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { ConnectionStream } from "./connection-stream.ts";

const hashOf = (chunks: readonly Uint8Array[]) =>
  createHash("sha256").update(Buffer.concat(chunks)).digest("hex");

it("passes on much more than its window, complete and in order, both ways", async () => {
  const there: Uint8Array[] = [];
  const ended = Promise.withResolvers<void>();
  let open = 0;
  let most = 0;
  const stream = new ConnectionStream({
    write: async (bytes) => {
      open += bytes.length;
      most = Math.max(most, open);
      there.push(Uint8Array.from(bytes));
      await turn();
      open -= bytes.length;
    },
    end: ended.resolve,
    close: () => {},
  });
  const sent = Array.from({ length: 200 }, () => randomBytes(64 * 1024));
  // Like `pipe`: the next chunk is written as soon as the previous one is accepted.
  for (const chunk of sent) stream.write(chunk);
  stream.end();
  await ended.promise;
  expect(hashOf(there)).toBe(hashOf(sent));
  // The window, and the chunk that exceeded it.
  expect(most).toBeLessThan(1.5 * 1024 * 1024);

  const here: Buffer[] = [];
  const reading = (async () => {
    for await (const chunk of stream) here.push(chunk);
  })();
  for (const chunk of sent) await stream.far.write(chunk);
  stream.far.end();
  await reading;
  expect(hashOf(here)).toBe(hashOf(sent));
});

it("holds the other end back while nothing is read, and releases it when the stream is destroyed", async () => {
  let isClosed = false;
  const close = () => {
    isClosed = true;
  };
  const stream = new ConnectionStream({ write: () => {}, end: () => {}, close });
  let isTaken = false;
  const writing = (async () => {
    for (let count = 0; count < 100; count += 1) await stream.far.write(new Uint8Array(64 * 1024));
    isTaken = true;
  })();
  for (let count = 0; count < 200; count += 1) await turn();
  expect(isTaken).toBe(false);
  stream.destroy();
  await writing;
  expect(isClosed).toBe(true);
});
