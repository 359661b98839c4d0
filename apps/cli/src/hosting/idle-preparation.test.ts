import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { IdlePreparation } from "./idle-preparation.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function preparation({ isBusy = (): boolean => false } = {}) {
  const loaded: string[] = [];
  const load = (name: string) => async () => void loaded.push(name);
  const pieces = () => [load("frames"), () => Promise.reject(new Error("gone")), load("loop")];
  return { loaded, idle: new IdlePreparation({ pieces, isBusy }) };
}

it("loads one piece at a time while the client is idle", async () => {
  const { loaded, idle } = preparation();
  idle.asked("initialize");
  await vi.advanceTimersByTimeAsync(499);
  idle.asked("get_commands");
  await vi.advanceTimersByTimeAsync(499);
  expect(loaded).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(loaded).toEqual(["frames"]);
  await vi.advanceTimersByTimeAsync(100);
  expect(loaded).toEqual(["frames", "loop"]);
  idle.asked("prompt");
  expect(vi.getTimerCount()).toBe(0);
});

it("loads nothing for a client that only reads the state", async () => {
  const { loaded, idle } = preparation();
  idle.asked("get_state");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(loaded).toEqual([]);
});

it("does not wait for a client that polls the state", async () => {
  const { loaded, idle } = preparation();
  idle.asked("initialize");
  for (let polls = 0; polls < 20; polls++) {
    await vi.advanceTimersByTimeAsync(100);
    idle.asked("get_state");
  }
  expect(loaded).toEqual(["frames", "loop"]);
});

it("waits while a session works and for a while after that", async () => {
  let isBusy = true;
  const { loaded, idle } = preparation({ isBusy: () => isBusy });
  idle.asked("prompt");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loaded).toEqual([]);
  isBusy = false;
  await vi.advanceTimersByTimeAsync(999);
  expect(loaded).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(loaded).toEqual(["frames", "loop"]);
});

it("waits while a command is being answered", async () => {
  const { loaded, idle } = preparation();
  const answered = Promise.withResolvers<void>();
  idle.asked("switch_session", answered.promise);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loaded).toEqual([]);
  answered.resolve();
  await vi.advanceTimersByTimeAsync(1_100);
  expect(loaded).toEqual(["frames", "loop"]);
});
