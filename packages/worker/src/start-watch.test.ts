import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { START_MS, StartWatch } from "./start-watch.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watching() {
  const said: string[] = [];
  const late: string[] = [];
  const watch = new StartWatch({
    report: (line) => said.push(line),
    onLate: (reason) => late.push(reason),
  });
  return { said, late, watch };
}

it("reports what a job waits for, and gives up on a host that does not begin", () => {
  const { said, late, watch } = watching();
  vi.advanceTimersByTime(10_000);
  expect(said).toEqual(["waits for its host to start and open the session (10 s)"]);
  watch.opened();
  vi.advanceTimersByTime(START_MS);
  expect(said[1]).toBe("waits for its host to take the prompt; an extension may hold it (20 s)");
  expect(late).toEqual(["waited 120 s for its host to take the prompt; an extension may hold it"]);
});

it("does not count the time in which a host waits for a person's answer", () => {
  const { said, late, watch } = watching();
  watch.take({ type: "host_request", id: "q" });
  vi.advanceTimersByTime(10 * START_MS);
  expect([said, late]).toEqual([[], []]);
  watch.take({ type: "host_request_resolved", id: "q" });
  vi.advanceTimersByTime(START_MS);
  expect(late).toHaveLength(1);
});

it("reports nothing once the prompt was accepted", () => {
  const { said, late, watch } = watching();
  watch.end();
  vi.advanceTimersByTime(START_MS);
  expect([said, late]).toEqual([[], []]);
});
