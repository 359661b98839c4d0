import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { McpServerConfig } from "../config/server-entry.ts";
import type { McpConnection } from "./connection.ts";
import { NeedsLogin } from "./failures.ts";
import type { Life, OpenedServer } from "./opened-server.ts";
import { McpServer } from "./server.ts";

const config: McpServerConfig = {
  name: "one",
  source: "user",
  entry: {
    transport: "stdio",
    command: "x",
    args: [],
    env: {},
    cwd: undefined,
    isStateless: false,
    timeoutMs: 1000,
    isEnabled: true,
    exposure: undefined,
    toolExposure: [],
    description: undefined,
    allowsSampling: false,
    trustsHints: false,
  },
};

/** A server whose connections the test opens and ends. */
function open(answer: (count: number) => Promise<void> | undefined) {
  const lives: Life[] = [];
  const refusals: unknown[] = [];
  const connection = {
    capabilities: {},
    instructions: undefined,
    request: async () => ({ content: [] }),
    list: async () => [],
    close: async () => {},
  } as unknown as McpConnection;
  const server = new McpServer({
    config,
    demands: { elicit: async () => ({}), roots: () => [], onElicited: () => {}, onLog: () => {} },
    open: async (_, life): Promise<OpenedServer> => {
      lives.push(life);
      await answer(lives.length);
      return { connection, transport: "stdio", failure: () => "it crashed" };
    },
    onRefused: (error) => refusals.push(error),
    maskKeys: (value) => value,
    loginHint: "Log in.",
  });
  const lose = () => lives.at(-1)?.onClosed();
  return { server, lives, refusals, lose };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("McpServer", () => {
  it("restarts with doubling delays, and fails after five restarts", async () => {
    const { server, lives } = open(async () => {
      throw new Error("no luck");
    });
    server.start();
    const delays = [500, 1000, 2000, 4000, 8000];
    for (const [index, delay] of delays.entries()) {
      await vi.advanceTimersByTimeAsync(delay - 1);
      expect(lives).toHaveLength(index + 1);
      expect(server.status).toBe("restarting");
      await vi.advanceTimersByTimeAsync(1);
      expect(lives).toHaveLength(index + 2);
    }
    await vi.advanceTimersByTimeAsync(100_000);
    expect(server).toMatchObject({ status: "failed", restarts: 5, error: "no luck" });
    expect(lives).toHaveLength(6);
  });

  it("forgets restarts after a minute of uptime, not after each connection", async () => {
    const { server, lose } = open(() => undefined);
    server.start();
    await vi.advanceTimersByTimeAsync(0);
    for (let count = 0; count < 4; count += 1) {
      lose();
      await vi.advanceTimersByTimeAsync(30_000);
    }
    expect(server).toMatchObject({ status: "connected", restarts: 4 });
    await vi.advanceTimersByTimeAsync(61_000);
    lose();
    await vi.advanceTimersByTimeAsync(499);
    expect(server.status).toBe("restarting");
    await vi.advanceTimersByTimeAsync(1);
    expect(server).toMatchObject({ status: "connected", restarts: 5 });
  });

  it("does not start again once it is stopped", async () => {
    const { server, lives, lose } = open(() => undefined);
    server.start();
    await vi.advanceTimersByTimeAsync(0);
    lose();
    await server.stop();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(lives).toHaveLength(1);
    expect(server.status).toBe("idle");
  });

  it("stops connecting once it is stopped, and starts again on request", async () => {
    const { server, lives } = open((count) =>
      count === 3
        ? undefined
        : new Promise((_, reject) => {
            lives.at(-1)?.signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
    );
    server.start();
    await vi.advanceTimersByTimeAsync(0);
    const again = server.reconnect();
    await vi.advanceTimersByTimeAsync(0);
    expect(lives.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    await server.reconnect();
    await again;
    expect(server.status).toBe("connected");

    const other = open(() => new Promise(() => {}));
    other.server.start();
    await vi.advanceTimersByTimeAsync(0);
    void other.server.stop();
    expect(other.lives[0]?.signal.aborted).toBe(true);
  });

  it("waits for a login instead of starting again, and connects after it", async () => {
    const { server, lives, refusals } = open((count) =>
      count === 1 ? Promise.reject(new NeedsLogin("the login has run out")) : undefined,
    );
    server.start();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(server.status).toBe("needs_auth");
    expect(lives).toHaveLength(1);
    expect(refusals).toHaveLength(1);
    await expect(server.request("tools/call", {}, { timeoutMs: 1 })).rejects.toThrow("Log in.");
    await server.reconnect();
    expect(server.status).toBe("connected");
  });
});
