import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commands, type SessionEvent } from "@tau-agent/rpc-protocol";
import { afterEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  ConnectionClosedError,
  FrameTooLargeError,
  RequestTimeoutError,
  RpcClient,
  type RpcClientOptions,
  RpcError,
} from "../src/index.ts";

const fakeHost = fileURLToPath(new URL("./fake-host.mjs", import.meta.url));
const clients: RpcClient[] = [];

function client(mode = "normal", options: RpcClientOptions = {}): RpcClient {
  const created = new RpcClient({ command: [process.execPath, fakeHost, mode], ...options });
  clients.push(created);
  return created;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.stop({ graceMs: 500 })));
});

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("resolves, but should reject"),
    (error: unknown) => error,
  );
}

describe("requests", () => {
  it("resolve to the data of the response", async () => {
    const host = await client().start();
    const result = await host.bash("echo hi");
    expect(result.output).toBe("echo hi");
    expectTypeOf(result.exitCode).toEqualTypeOf<number | undefined>();
    expect(await host.newSession("veto")).toEqual({ cancelled: true });
    expect(await host.setSessionName("x")).toBeUndefined();
  });

  it("have no default timeout when their command may take long", async () => {
    const host = await client("silent").start();
    const { get_state: definition } = commands;
    const settled = vi.fn();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const timedOut = rejection(host.getState());
      vi.advanceTimersByTime(60_000);
      expect(await timedOut).toBeInstanceOf(RequestTimeoutError);
      Object.assign(commands, { get_state: { ...definition, takesLong: true } });
      void host.getState().then(settled, settled);
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(settled).not.toHaveBeenCalled();
    } finally {
      Object.assign(commands, { get_state: definition });
      vi.useRealTimers();
    }
  });

  it("reject with the host's text and code", async () => {
    const host = await client().start();
    const error = await rejection(host.setModel("x", "y"));
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({
      message: "Model not found: x/y",
      code: "model_not_found",
      command: "set_model",
      requestId: expect.any(String),
    });
  });

  it("reject when the response's data is of the wrong kind", async () => {
    const host = await client().start();
    expect(await rejection(host.getMessages())).toMatchObject({ code: "invalid_result" });
  });

  it("reject when the response takes too long, and ignore a late response", async () => {
    const host = await client("silent", { requestTimeoutMs: 2_000 }).start();
    const error = await rejection(host.request("bash", { command: "late" }, { timeoutMs: 20 }));
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error).toMatchObject({ command: "bash", timeoutMs: 20 });
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect((await host.bash("still there")).output).toBe("still there");
  });

  it("reject when the response is longer than the client accepts", async () => {
    const host = await client("normal", { maxFrameBytes: 4_000 }).start();
    const others = host.bash("late");
    const error = await rejection(host.bash("much"));
    expect(error).toBeInstanceOf(FrameTooLargeError);
    expect(error).toMatchObject({ command: "bash", limitBytes: 4_000 });
    expect((await others).output).toBe("late");
  });

  it("are not sent when they are longer than the host accepts", async () => {
    const host = await client().start();
    const error = await rejection(host.prompt("x".repeat(64 * 1024 * 1024)));
    expect(error).toBeInstanceOf(FrameTooLargeError);
    expect(String(error)).toContain("The command prompt has 671");
    expect((await host.bash("still there")).output).toBe("still there");
  });

  it("wait for a user whom an extension asks", async () => {
    const host = await client("normal", { requestTimeoutMs: 2_000 }).start();
    expect(await host.newSession("asks")).toEqual({ cancelled: false });
  });

  it("end when their signal is aborted, and ignore a late response", async () => {
    const host = await client().start();
    const { signal } = new AbortController();
    expect(await host.request("bash", { command: "a" }, { signal })).toMatchObject({ output: "a" });
    const waiting = host.request("bash", { command: "late" }, { signal: AbortSignal.timeout(20) });
    expect(await rejection(waiting)).toMatchObject({ name: "TimeoutError" });
    const refused = host.request("bash", { command: "b" }, { signal: AbortSignal.abort("no") });
    expect(await rejection(refused)).toBe("no");
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect((await host.bash("c")).output).toBe("c");
  });

  it("reject before start and after stop", async () => {
    const host = client();
    expect(await rejection(host.getState())).toBeInstanceOf(ConnectionClosedError);
    await host.start();
    await host.stop();
    expect(await rejection(host.getState())).toBeInstanceOf(ConnectionClosedError);
  });

  it("reject when the host stops reading while they are written", async () => {
    const host = await client().start();
    const large = "x".repeat(1_000_000);
    const errors = await Promise.all(
      ["die", large, large, large].map((command) => rejection(host.bash(command))),
    );
    for (const error of errors)
      expect(error).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("last words") });
    expect(host.getStderr()).toContain("last words");
  });

  it("survive responses cut inside characters and U+2028 inside strings", async () => {
    const host = await client().start();
    expect((await host.bash("split")).output).toBe("é\u2028漢\u2029🙂");
  });

  it("survive lines that are not frames and keep them with the end of stderr", async () => {
    const host = await client().start();
    await host.bash("garbage");
    expect(host.getStderr()).toContain("not a frame: Welcome to the machine!");
  });

  it("take the main fields as positional arguments and the others by name", () => {
    expectTypeOf<Parameters<RpcClient["setModel"]>>().toEqualTypeOf<
      [provider: string, modelId: string]
    >();
    expectTypeOf<RpcClient["prompt"]>().toBeCallableWith("hi");
    expectTypeOf<RpcClient["prompt"]>().toBeCallableWith("hi", { streamingBehavior: "steer" });
    expectTypeOf<RpcClient["compact"]>().toBeCallableWith();
    expectTypeOf<Parameters<RpcClient["getState"]>>().toEqualTypeOf<[]>();
    // @ts-expect-error a level is one of a few words
    const wrong: Parameters<RpcClient["setThinkingLevel"]> = ["enormous"];
    expect(wrong).toHaveLength(1);
  });
});

describe("start", () => {
  it("fails at once with the end of stderr when the host ends", async () => {
    const host = client("dead");
    const error = await rejection(host.start());
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(error).toMatchObject({ exitCode: 1, stderr: "cannot read the settings\n" });
    expect(String(error)).toContain("cannot read the settings");
  });

  it("explains what to do when there is no such program", async () => {
    const host = client("", { command: ["/nowhere/tau"] });
    const error = await rejection(host.start());
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(String(error)).toMatch(/ENOENT.*cliPath/s);
  });

  it("reports no exit code for a host that never ran", async () => {
    const host = client("normal", { command: ["/nowhere/tau"] });
    expect(await rejection(host.start())).toMatchObject({ exitCode: undefined, signal: undefined });
    expect(host.exitCode).toBeUndefined();
  });

  it("names the working directory when it does not exist", async () => {
    const error = await rejection(client("normal", { cwd: "/no/such/folder" }).start());
    expect(String(error)).toContain("its working directory /no/such/folder does not exist");
  });

  it("passes provider, model, further arguments and environment", async () => {
    const host = await client("normal", {
      provider: "p",
      model: "m",
      args: ["--no-session"],
      env: { EXTRA: "seen" },
    }).start();
    await host.getState();
    expect(host.getStderr()).toBe("args --mode rpc --provider p --model m --no-session seen\n");
  });

  it("continues in full form with a host that does not know initialize", async () => {
    const host = await client("original").start();
    expect(host.host).toBeUndefined();
    const { text, status } = await host.promptAndWait("hello");
    expect({ text, status }).toEqual({ text: "You said: hello", status: "completed" });
    const error = await rejection(host.promptAndWait("fail"));
    expect(error).toMatchObject({ message: "the model is on fire", code: "prompt_failed" });
  });

  it("starts one host, however often it is called before the host is running", async () => {
    const host = client();
    await Promise.all([host.start(), host.start()]);
    expect(host.host).toMatchObject({ name: "fake", stream: "delta" });
    const { pid } = host;
    await host.start();
    expect(host.pid).toBe(pid);
  });

  it("works again after stop", async () => {
    const host = await client().start();
    const first = host.pid;
    await host.stop();
    await host.start();
    expect(host.pid).not.toBe(first);
    expect((await host.bash("again")).output).toBe("again");
  });
});

describe("prompts", () => {
  it("resolve with status, messages and text when their own run has ended", async () => {
    const host = await client().start();
    const result = await host.promptAndWait("good morning");
    expect(result.status).toBe("completed");
    expect(result.text).toBe("You said: good morning");
    expect(result.messages.map((message) => message.role)).toEqual(["assistant"]);
  });

  it("report what paused them", async () => {
    const host = await client().start();
    const result = await host.promptAndWait("pause");
    expect(result).toMatchObject({ status: "paused", pausedBy: "turns" });
  });

  it("reject when they are refused and when their run fails", async () => {
    const host = await client().start();
    expect(await rejection(host.promptAndWait("refuse"))).toMatchObject({ code: "no_model" });
    expect(await rejection(host.promptAndWait("fail"))).toMatchObject({
      code: "prompt_failed",
      promptCode: "overloaded",
      message: "on fire",
    });
    expect(await rejection(host.promptAndWait("spend"))).toMatchObject({
      code: "prompt_failed",
      promptCode: "budget_exceeded",
      message: "on fire",
    });
  });

  it("reject with exit code and the end of stderr when the host dies during their run", async () => {
    const host = await client().start();
    const [prompt, command, iteration] = await Promise.all([
      rejection(host.promptAndWait("die")),
      rejection(host.bash("late")),
      rejection(drain(host.events())),
    ]);
    for (const error of [prompt, command, iteration]) {
      expect(error).toBeInstanceOf(ConnectionClosedError);
      expect(error).toMatchObject({ exitCode: 7, stderr: expect.stringMatching(/out of cheese/) });
    }
    expect(host.exitCode).toBe(7);
  });

  it("reject when they take longer than allowed", async () => {
    const host = await client().start();
    const error = await rejection(host.promptAndWait("hang", { timeoutMs: 30 }));
    expect(error).toBeInstanceOf(RequestTimeoutError);
  });

  it("have no limit if a timer cannot measure it", async () => {
    const host = await client().start();
    for (const timeoutMs of [0, 2 ** 31, Number.POSITIVE_INFINITY]) {
      await host.promptAndWait("hello", { timeoutMs });
      await host.request("bash", { command: "x" }, { timeoutMs });
    }
  });

  it("reject with the signal's reason and abort the run when their signal is aborted", async () => {
    const host = await client().start();
    const controller = new AbortController();
    const ended = rejection(host.promptAndWait("hang", { signal: controller.signal }));
    const settled = host.collectEvents({ timeoutMs: 5_000 });
    controller.abort(new RangeError("enough"));
    expect(await ended).toEqual(new RangeError("enough"));
    expect((await settled).at(-1)).toEqual({ type: "agent_settled", aborted: true });
    const options = { signal: controller.signal };
    expect(await rejection(host.promptAndWait("hello", options))).toEqual(new RangeError("enough"));
    expect(await rejection(host.collectEvents(options))).toEqual(new RangeError("enough"));
  });

  it("have the caller's line in the stack of their errors", async () => {
    const host = await client().start();
    const ask = async () => host.prompt("refuse");
    const wait = async () => host.promptAndWait("refuse");
    const late = async () => host.promptAndWait("hang", { timeoutMs: 20 });
    for (const call of [ask, wait, late]) {
      const { stack } = (await rejection(call())) as Error;
      expect(stack).toContain(import.meta.filename);
      expect(stack).toContain(call.name);
    }
    const hanging = [late, () => host.request("bash", { command: "late" })].map(async (call) => {
      return rejection(call());
    });
    const ended = [host.waitForIdle(), host.collectEvents()].map(rejection);
    await host.stop({ graceMs: 0 });
    for (const error of await Promise.all([...hanging.slice(1), ...ended])) {
      expect((error as Error).stack).toContain(import.meta.filename);
    }
    const ends = (await Promise.all(ended)) as ConnectionClosedError[];
    expect(ends[0]).not.toBe(ends[1]);
    expect(ends[0]).toMatchObject({ code: "closed", message: ends[1]?.message });
  });

  it("report once that their connection has closed, and who closed it", async () => {
    const ends: unknown[] = [];
    const stopped = await client().start();
    stopped.onClose((error) => ends.push(error));
    const taken = stopped.onClose(() => ends.push("taken back"));
    taken();
    await stopped.stop();
    expect(ends).toEqual([undefined]);
    const died = await client().start();
    died.onClose((error) => ends.push(error));
    await rejection(died.promptAndWait("die"));
    await expect.poll(() => ends).toHaveLength(2);
    expect(ends[1]).toMatchObject({ exitCode: 7, code: "closed" });
    died.onClose((error) => ends.push(error));
    await expect.poll(() => ends).toHaveLength(3);
  });

  it("can be awaited from anywhere", async () => {
    const host = await client().start();
    await host.waitForIdle(1_000);
    const collected = host.collectEvents({ timeoutMs: 5_000 });
    await host.prompt("hello");
    expect((await collected).at(-1)).toEqual({ type: "agent_settled", aborted: false });
  });

  it("can be awaited while the host is still accepting them", async () => {
    const host = await client("thoughtful").start();
    const types: string[] = [];
    host.onEvent(({ type }) => types.push(type));
    const prompt = host.prompt("hello");
    await host.waitForIdle(1_000);
    expect(types).toContain("agent_settled");
    await prompt;
    const refused = rejection(host.prompt("refuse"));
    await host.waitForIdle(1_000);
    expect(await refused).toMatchObject({ code: "no_model" });
  });

  it("are not awaited when no queued prompt can begin", async () => {
    const host = await client("queued").start();
    await host.waitForIdle(1_000);
  });
});

describe("events", () => {
  it("are the same in delta form as in full form", async () => {
    const [delta, full] = await Promise.all(
      (["delta", "full"] as const).map(async (stream) => {
        const host = await client("normal", { stream }).start();
        const events: SessionEvent[] = [];
        host.onEvent((event) => events.push(event));
        await host.promptAndWait("tell me a story with \u2028 in it");
        return events.filter((event) => event.type !== "prompt_result");
      }),
    );
    expect(delta).toEqual(full);
    expect(delta?.filter((event) => event.type === "message_update").length).toBeGreaterThan(5);
  });

  it("reach a listener until it unsubscribes", async () => {
    const host = await client().start();
    const seen: string[] = [];
    const unsubscribe = host.onEvent((event) => seen.push(event.type));
    await host.promptAndWait("one");
    const count = seen.length;
    unsubscribe();
    await host.promptAndWait("two");
    expect(seen).toHaveLength(count);
    expect(seen.slice(0, 2)).toEqual(["agent_start", "message_start"]);
  });

  it("do not reach a listener that another one has unsubscribed", async () => {
    const host = await client().start();
    const seen: string[] = [];
    host.onEvent(() => {
      seen.push("first");
      unsubscribe();
    });
    const unsubscribe = host.onEvent(() => seen.push("second"));
    await host.promptAndWait("one");
    expect(seen).toContain("first");
    expect(seen).not.toContain("second");
  });

  it("end their iterator when the client stops", async () => {
    const host = await client().start();
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of host.events()) types.push(event.type);
    })();
    await host.promptAndWait("hello");
    await host.stop();
    await reading;
    expect(types.at(-1)).toBe("prompt_result");
  });

  it("end an unread iterator with an error instead of buffering without bound", async () => {
    const host = await client().start();
    const events = host.events({ maxBuffered: 3 });
    await host.promptAndWait("hello");
    expect(String(await rejection(drain(events)))).toMatch(/More than 3 events/);
  });

  it("of unknown types are passed on", async () => {
    const host = await client("normal", { ui: { confirm: () => true } }).start();
    const types: string[] = [];
    host.onEvent((event) => types.push(event.type));
    await host.bash("ask");
    expect(types).toEqual(["from_the_future"]);
  });
});

describe("extension UI", () => {
  it("is answered by handlers, and cancelled without one", async () => {
    const notices: string[] = [];
    const host = await client("normal", {
      ui: {
        confirm: async ({ message }) => message === "?",
        notify: ({ message }) => {
          notices.push(message);
        },
      },
    }).start();
    const answers: unknown[] = JSON.parse((await host.bash("ask")).output);
    const type = "extension_ui_response";
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      expect.arrayContaining([
        { type, id: "u1", confirmed: true },
        { type, id: "u2", cancelled: true },
        { type, id: "u3", cancelled: true },
      ]),
    );
    expect(notices).toEqual(["hello"]);
  });

  it("is cancelled when its handler fails", async () => {
    const ui = {
      confirm: () => {
        throw new TypeError("no window");
      },
    };
    const host = await client("normal", { ui }).start();
    expect((await host.bash("ask")).output).toContain('"id":"u1","cancelled":true');
    expect(host.getStderr()).toContain("no window");
  });
});

describe("stop", () => {
  it("ends a host by closing its stdin", async () => {
    const host = await client().start();
    expect(await host.stop()).toMatchObject({ exitCode: 0, signal: undefined });
    expect(await host.stop()).toMatchObject({ exitCode: 0 });
  });

  it("also ends a host that closed its stdout, and rejects what waits for it", async () => {
    const host = await client().start();
    const error = await rejection(host.bash("mute"));
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(String(error)).toContain("the pipe is gone");
    expect(String(error)).toContain("closed its stdout");
    expect(() => process.kill(host.pid ?? 0, 0)).toThrow();
  });

  it("gives a host that closes its stdout while ending the full time", async () => {
    const host = await client("tidy").start();
    expect(await host.stop({ graceMs: 20_000 })).toMatchObject({ exitCode: 7 });
  });

  it("sends SIGTERM and SIGKILL to a host that ignores it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tau-rpc-client-"));
    const log = join(folder, "signals");
    const host = await client("stubborn", { env: { SIGNAL_LOG: log } }).start();
    const exit = await host.stop({ graceMs: 30, killAfterMs: 300 });
    expect(exit?.signal).toBe("SIGKILL");
    expect(readFileSync(log, "utf8")).toBe("SIGTERM\n");
    rmSync(folder, { recursive: true });
  });

  it("is called by `await using`", async () => {
    let pid: number | undefined;
    {
      await using host = await client().start();
      pid = host.pid;
      expect(() => process.kill(pid ?? 0, 0)).not.toThrow();
    }
    expect(() => process.kill(pid ?? 0, 0)).toThrow(/ESRCH/);
  });

  it("rejects everything pending", async () => {
    const host = await client("silent").start();
    const pending = rejection(host.getState());
    await host.stop();
    expect(String(await pending)).toContain("The client was stopped");
  });
});

async function drain(events: AsyncIterable<SessionEvent>): Promise<void> {
  for await (const event of events) void event;
}
