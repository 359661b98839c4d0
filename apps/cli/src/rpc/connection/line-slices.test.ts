import { describe, expect, it } from "vitest";
import { LineSlices } from "./line-slices.ts";

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);

describe("LineSlices", () => {
  it("processes a few lines at once", () => {
    const log: unknown[] = [];
    const lines = new LineSlices<number>((line) => log.push(line), {
      hold: () => log.push("hold"),
      flush: () => log.push("flush"),
    });
    lines.push([1, 2]);
    lines.push([3]);
    expect(log).toEqual(["hold", 1, 2, "flush", "hold", 3, "flush"]);
  });

  it("gives the reader a turn between the lines of a burst and keeps their order", async () => {
    const taken: number[] = [];
    const flushedAt: number[] = [];
    const lines = new LineSlices<number>((line) => taken.push(line), {
      hold: () => {},
      flush: () => flushedAt.push(taken.length),
    });
    lines.push(numbers(1_000));
    const atOnce = taken.length;
    lines.push(numbers(500, 1_000));
    expect(taken.length).toBe(atOnce);
    expect(atOnce).toBeLessThan(1_000);
    await lines.idle();
    expect(taken).toEqual(numbers(1_500));
    expect(flushedAt.length).toBeGreaterThan(10);
    expect(flushedAt.at(-1)).toBe(1_500);
  });

  it("is idle before it has received a line, and again after a burst", async () => {
    const taken: number[] = [];
    const lines = new LineSlices<number>((line) => taken.push(line), {
      hold: () => {},
      flush: () => {},
    });
    await lines.idle();
    lines.push(numbers(200));
    await lines.idle();
    lines.push([200]);
    expect(taken.at(-1)).toBe(200);
  });
});
