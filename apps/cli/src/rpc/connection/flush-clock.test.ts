import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FlushClock } from "./flush-clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => void vi.useRealTimers());

it("flushes what is due together with what is due soon after, and the rest on time", () => {
  const clock = new FlushClock();
  const called: string[] = [];
  const begun = performance.now();
  const wait = (name: string, ms: number) => clock.set(() => called.push(name), begun + ms);
  wait("c", 31);
  wait("b", 29);
  wait("a", 25);
  vi.advanceTimersByTime(24);
  expect(called).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(called.toSorted()).toEqual(["a", "b"]);
  vi.advanceTimersByTime(6);
  expect(called.at(-1)).toBe("c");
  vi.advanceTimersByTime(100);
  expect(called).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

it("skips what was cleared, and accepts new entries during a flush", () => {
  const clock = new FlushClock();
  const called: string[] = [];
  const cleared = () => called.push("cleared");
  clock.set(cleared, performance.now() + 10);
  clock.clear(cleared);
  clock.set(() => {
    clock.set(() => called.push("second"), performance.now() + 10);
    called.push("first");
  }, performance.now() + 20);
  vi.advanceTimersByTime(29);
  expect(called).toEqual(["first"]);
  vi.advanceTimersByTime(1);
  expect(called).toEqual(["first", "second"]);
});
