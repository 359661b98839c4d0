import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { managedTimers } from "./managed-timers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("passes arguments on, and reports immediate and later failures without ending the host", async () => {
  const failures: unknown[] = [];
  const seen: unknown[] = [];
  const timers = managedTimers(
    () => true,
    (event, error) => failures.push([event, (error as Error).message]),
  );
  timers.setTimeout((value: string) => seen.push(value), 10, "later");
  const repeated = timers.setInterval(() => {
    throw new TypeError("now");
  }, 20);
  timers.setTimeout(() => Promise.reject(new TypeError("afterwards")), 30);
  await vi.advanceTimersByTimeAsync(45);
  timers.clearTimer(repeated);
  await vi.advanceTimersByTimeAsync(100);
  expect(seen).toEqual(["later"]);
  expect(failures).toEqual([
    ["interval", "now"],
    ["timeout", "afterwards"],
    ["interval", "now"],
  ]);
});

it("runs nothing after its session has ended", async () => {
  let isAlive = true;
  let count = 0;
  const timers = managedTimers(
    () => isAlive,
    () => {},
  );
  timers.setInterval(() => {
    count += 1;
  }, 10);
  await vi.advanceTimersByTimeAsync(25);
  isAlive = false;
  await vi.advanceTimersByTimeAsync(50);
  expect(count).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});
