import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createOutputPump } from "./output-pump.ts";

const tick = (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs));

it("holds a stream back until the sink is ready, then drains it", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const chunks: string[] = [];
  const waiting: (() => void)[] = [];
  const pump = createOutputPump(stdout, stderr, (chunk) => {
    chunks.push(chunk.toString());
    return new Promise((resolve) => waiting.push(resolve));
  });
  stdout.write("a");
  await tick(5);
  stdout.write("b");
  stdout.end();
  stderr.end();
  await tick(5);
  expect(chunks).toEqual(["a"]);
  const drained = pump.drain(10, 20);
  await tick(60);
  waiting.shift()?.();
  await tick(5);
  expect(chunks).toEqual(["a", "b"]);
  waiting.shift()?.();
  await drained;
});

it("stops waiting for streams that stay open, and discards their later output", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const chunks: string[] = [];
  const pump = createOutputPump(stdout, stderr, (chunk) => {
    chunks.push(chunk.toString());
    return undefined;
  });
  stdout.write("early");
  await pump.drain(20, 200);
  stdout.write("late");
  await tick(5);
  expect(chunks).toEqual(["early"]);
  expect(stdout.readableLength).toBe(0);
});
