import { afterEach, describe, expect, it, vi } from "vitest";
import { Shutdown } from "./shutdown.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

afterEach(() => {
  for (const signal of signals) process.removeAllListeners(signal);
  vi.useRealTimers();
});

describe("Shutdown", () => {
  it("runs its steps in order, once, and exits with the first code", async () => {
    const exit = vi.fn();
    const order: number[] = [];
    const shutdown = new Shutdown(exit);
    shutdown.onShutdown(async () => void order.push(1));
    shutdown.onShutdown(async () => void order.push(2));
    expect(shutdown.hasBegun).toBe(false);
    await Promise.all([shutdown.begin(0), shutdown.begin(7)]);
    expect(order).toEqual([1, 2]);
    expect(exit.mock.calls).toEqual([[0]]);
  });

  it("continues when a step fails", async () => {
    const exit = vi.fn();
    const last = vi.fn(async () => {});
    const shutdown = new Shutdown(exit);
    shutdown.onShutdown(() => Promise.reject(new TypeError("broken")));
    shutdown.onShutdown(last);
    await shutdown.begin(3);
    expect(last).toHaveBeenCalled();
    expect(exit).toHaveBeenCalledWith(3);
  });

  it("exits within five seconds when a step hangs", async () => {
    vi.useFakeTimers();
    const exit = vi.fn();
    const shutdown = new Shutdown(exit);
    shutdown.onShutdown(() => new Promise(() => {}));
    void shutdown.begin(0);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(exit).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(exit).toHaveBeenCalledWith(0);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("answers %s with %d, and a second signal at once", async (signal, code) => {
    const exit = vi.fn();
    const shutdown = new Shutdown(exit);
    const { promise, resolve } = Promise.withResolvers<void>();
    shutdown.onShutdown(() => promise);
    shutdown.listen();
    process.emit(signal, signal);
    await Promise.resolve();
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGTERM", "SIGTERM");
    expect(exit).toHaveBeenCalledWith(143);
    resolve();
    await shutdown.begin(0);
    expect(exit).toHaveBeenLastCalledWith(code);
  });

  it("is not cut short by the first signal after the input has ended", async () => {
    const exit = vi.fn();
    const shutdown = new Shutdown(exit);
    const { promise, resolve } = Promise.withResolvers<void>();
    shutdown.onShutdown(() => promise);
    shutdown.listen();
    void shutdown.begin(0);
    process.emit("SIGTERM", "SIGTERM");
    expect(exit).not.toHaveBeenCalled();
    resolve();
    await shutdown.begin(0);
    expect(exit.mock.calls).toEqual([[0]]);
  });
});
