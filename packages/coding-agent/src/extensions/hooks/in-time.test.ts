import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CommandContext, ExtensionContext } from "../api/context.ts";
import type { ExtensionEventName } from "../api/events.ts";
import { type AnyHandler, Extension } from "../load/registration.ts";
import { type ExtensionFailure, ExtensionRunner } from "./runner.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});

/** A runner with two extensions: the first never returns, the second records its call. */
function waiting(name: ExtensionEventName) {
  const failures: ExtensionFailure[] = [];
  const called: string[] = [];
  let isAsking = false;
  const extensions = [never, () => void called.push("second")].map((handler, index) => {
    const path = `/${index}.ts`;
    const extension = new Extension({ path, realPath: path, scope: "user" });
    extension.addHandler(name, handler as unknown as AnyHandler);
    return extension;
  });
  const runner = new ExtensionRunner({
    isAsking: () => isAsking,
    extensions,
    context: {} as ExtensionContext,
    commandContext: {} as CommandContext,
    onFailure: (failure) => failures.push(failure),
  });
  const ask = (value: boolean) => {
    isAsking = value;
  };
  return { runner, failures, called, ask };
}

const slow = {
  extensionPath: "/0.ts",
  error: "The session has been waiting for this handler for 10 s",
};

it("reports that an extension delays a session's start, and starts without it after a minute", async () => {
  const { runner, failures, called } = waiting("session_start");
  const begun = runner.emit({ type: "session_start", reason: "startup" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(failures).toEqual([{ ...slow, event: "session_start" }]);
  expect(called).toEqual([]);
  await vi.advanceTimersByTimeAsync(50_000);
  await begun;
  expect(called).toEqual(["second"]);
  expect(failures[1]?.error).toBe("did not end within 60 s; the session goes on without it");
});

it("does not count the time in which a person is asked", async () => {
  const { runner, failures, called, ask } = waiting("session_start");
  ask(true);
  const begun = runner.emit({ type: "session_start", reason: "startup" });
  await vi.advanceTimersByTimeAsync(300_000);
  expect(failures).toEqual([]);
  ask(false);
  await vi.advanceTimersByTimeAsync(60_000);
  await begun;
  expect(called).toEqual(["second"]);
});

it.each(["input", "before_agent_start", "context", "agent_end"] as const)(
  "reports a slow handler of %s, and continues without it after ten minutes",
  async (name) => {
    const { runner, failures, called, ask } = waiting(name);
    const held = runner.each(name, () => ({ type: name }) as never);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(failures).toEqual([{ ...slow, event: name }]);
    ask(true);
    await vi.advanceTimersByTimeAsync(3_600_000);
    ask(false);
    await vi.advanceTimersByTimeAsync(589_000);
    expect(called).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    await held;
    expect(called).toEqual(["second"]);
    expect(failures[1]?.error).toBe("did not end within 600 s; the session goes on without it");
  },
);

it("waits for a tool_call handler without a limit, but reports it", async () => {
  const { runner, failures, called } = waiting("tool_call");
  void runner.each("tool_call", () => ({ type: "tool_call" }) as never);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(failures).toEqual([{ ...slow, event: "tool_call" }]);
  expect(called).toEqual([]);
});
