import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { ConnectionClosedError, RpcClient, type RpcClientOptions } from "../src/index.ts";

const fakeHost = fileURLToPath(new URL("./fake-host.mjs", import.meta.url));
const command = [process.execPath, fakeHost, "normal"];
const clients: RpcClient[] = [];

function client(options: RpcClientOptions = {}): RpcClient {
  const created = new RpcClient({ command, ...options });
  clients.push(created);
  return created;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.stop({ graceMs: 500 })));
});

const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => error);

describe("a host that cannot be started", () => {
  it.each<[string, RpcClientOptions, RegExp]>([
    ["no program", { command: [""] }, /cannot be empty/],
    ["a null byte", { args: ["a\0b"] }, /null bytes/],
    ["arguments that are too long", { args: ["x".repeat(3_000_000)] }, /E2BIG|ENAMETOOLONG/],
    ["a file as working directory", { cwd: fakeHost }, /working directory .* is not a directory/],
  ])("because of %s rejects with ConnectionClosedError, each time", async (_, options, text) => {
    const host = client(options);
    const first = await outcome(host.start());
    expect(first).toBeInstanceOf(ConnectionClosedError);
    expect(String(first)).toMatch(text);
    expect(await outcome(host.start())).not.toBe(first);
    expect(await host.stop()).toBeUndefined();
  });

  it.runIf(process.platform === "linux")(
    "with too few file descriptors can be started later",
    () => {
      const index = fileURLToPath(new URL("../src/index.ts", import.meta.url));
      // In a separate process, which runs out of file descriptors.
      const script = `
      import { closeSync, openSync } from "node:fs";
      const { RpcClient } = await import(${JSON.stringify(index)});
      const host = new RpcClient({ command: ${JSON.stringify(command)} });
      const taken = [];
      try { for (;;) taken.push(openSync("/dev/null")); } catch {}
      const error = await host.start().catch((error) => error);
      for (const descriptor of taken) closeSync(descriptor);
      console.log(error.name, /EMFILE/.test(error.message));
      await host.start();
      console.log((await host.stop()).exitCode);
    `;
      const argv = ["-C", "@tau-agent/source", "--input-type=module", "-e", script];
      const limited = ["-c", 'ulimit -n 256; exec "$@"', "sh", process.execPath, ...argv];
      const { stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
      expect({ stdout, stderr }).toEqual({ stdout: "ConnectionClosedError true\n0\n", stderr: "" });
    },
  );
});

describe("a client that is stopped", () => {
  it("during its start does not start, and leaves no host behind", async () => {
    const host = client();
    const starting = outcome(host.start());
    const { pid } = host;
    await host.stop();
    expect(await starting).toBeInstanceOf(ConnectionClosedError);
    expect(() => process.kill(pid ?? 0, 0)).toThrow(/ESRCH/);
  });

  it("can be started again without waiting for its end", async () => {
    const host = await client().start();
    const { pid } = host;
    const stopping = host.stop();
    await Promise.all([host.start(), host.start()]);
    expect(host.pid).not.toBe(pid);
    expect((await host.bash("again")).output).toBe("again");
    await stopping;
    expect((await host.bash("still")).output).toBe("still");
  });

  it("during its start can be started again at once", async () => {
    const host = client();
    const first = outcome(host.start());
    void host.stop();
    await host.start();
    expect(await first).toBeInstanceOf(ConnectionClosedError);
    expect((await host.bash("again")).output).toBe("again");
  });

  it("before its next start has begun does not start", async () => {
    const host = await client().start();
    const { pid } = host;
    void host.stop();
    const starting = outcome(host.start());
    await host.stop();
    expect(await starting).toBeInstanceOf(ConnectionClosedError);
    expect(host.pid).toBe(pid);
  });

  it("delivers no further events and rejects waits for any", async () => {
    const host = await client().start();
    await host.stop();
    expect(await host.events().next()).toEqual({ value: undefined, done: true });
    expect(await outcome(host.collectEvents())).toBeInstanceOf(ConnectionClosedError);
  });
});

describe("a client whose host has died", () => {
  it("makes iterators throw, until it is started again", async () => {
    const host = await client().start();
    process.kill(host.pid ?? 0, "SIGKILL");
    expect(await outcome(host.waitForIdle())).toBeInstanceOf(ConnectionClosedError);
    expect(await outcome(host.events().next())).toBeInstanceOf(ConnectionClosedError);
    const starting = host.start();
    const next = host.events().next();
    await starting;
    await host.promptAndWait("hello");
    expect(await next).toMatchObject({ done: false, value: { type: "agent_start" } });
  });
});

describe("a wait whose own condition throws", () => {
  it("rejects with what it threw", async () => {
    const host = await client().start();
    const until = () => {
      throw new RangeError("no such event");
    };
    const collecting = outcome(host.collectEvents({ until }));
    await host.promptAndWait("hello");
    expect(await collecting).toEqual(new RangeError("no such event"));
  });
});

describe("a reply whose content is not a list of blocks", () => {
  it("does not block its prompt", async () => {
    const host = await client().start();
    const { status, text } = await host.promptAndWait("odd content");
    expect({ status, text }).toEqual({ status: "completed", text: "" });
  });
});
