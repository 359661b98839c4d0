import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CheckedOut } from "./checkout.ts";
import { CHECKOUT_MS, takeFolder } from "./take-folder.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function taking() {
  const said: string[] = [];
  const released: CheckedOut[] = [];
  const { promise, resolve } = Promise.withResolvers<CheckedOut>();
  let given: AbortSignal | undefined;
  const taken = takeFolder({
    checkout: ({ signal }) => {
      given = signal;
      return promise;
    },
    job: { sessionId: "s", project: undefined },
    signal: new AbortController().signal,
    report: (line) => said.push(line),
    release: async (folder) => void released.push(folder),
  });
  return { taken, said, released, resolve, given: () => given };
}

it("reports that a job waits for its folder, and returns the folder", async () => {
  const { taken, said, resolve } = taking();
  vi.advanceTimersByTime(20_000);
  expect(said).toEqual([
    "waits for the checkout of its folder (10 s)",
    "waits for the checkout of its folder (20 s)",
  ]);
  resolve({ cwd: "/work" });
  expect(await taken).toEqual({ cwd: "/work" });
  vi.advanceTimersByTime(CHECKOUT_MS);
  expect(said).toHaveLength(2);
});

it("gives up a checkout that takes too long, and releases a folder that arrives late", async () => {
  const { taken, released, resolve, given } = taking();
  const refused = expect(taken).rejects.toThrow("waited 600 s for the checkout of its folder");
  vi.advanceTimersByTime(CHECKOUT_MS);
  await refused;
  expect(given()?.aborted).toBe(true);
  resolve({ cwd: "/late" });
  await expect.poll(() => released).toEqual([{ cwd: "/late" }]);
});
