import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { framePipe } from "./__fixtures__/frame-pipe.ts";
import { MemoryWorkspace } from "./__fixtures__/memory-workspace.ts";
import { FramedWorkspace } from "./framed-workspace.ts";
import { MAX_PIECE_BYTES } from "./frames.ts";

afterEach(() => {
  vi.useRealTimers();
});

const whole = (line: Buffer) => [line];

/** A workspace whose server is simulated by the test. */
function alone() {
  const sent: Record<string, unknown>[] = [];
  const lost: string[] = [];
  const workspace = new FramedWorkspace({
    id: "ws-1",
    cwd: "/",
    canSearch: true,
    send: (frame) => void sent.push(frame),
    onLost: (reason) => void lost.push(reason),
  });
  return { workspace, sent, lost };
}

const code = (error: unknown): unknown => Object(error).code;

describe("FramedWorkspace", () => {
  it("reads and writes files over 4 MiB in pieces", async () => {
    const memory = new MemoryWorkspace();
    const { remote, sent } = framePipe(memory, whole);
    const bytes = Buffer.alloc(2 * MAX_PIECE_BYTES + 100, "abc");
    await remote.write("/work/large", bytes);
    expect(bytes.equals(memory.files.get("/work/large") ?? new Uint8Array())).toBe(true);
    expect(sent).toHaveLength(3);
    expect(bytes.equals(await remote.read("/work/large"))).toBe(true);
    const part = await remote.read("/work/large", { offset: 10, length: MAX_PIECE_BYTES + 1 });
    expect(bytes.subarray(10, MAX_PIECE_BYTES + 11).equals(part)).toBe(true);
    await remote.dispose();
  });

  it("fails if a large file changes while it is read", async () => {
    const memory = new MemoryWorkspace();
    memory.files.set("/work/large", new Uint8Array(MAX_PIECE_BYTES + 1));
    const { read } = memory;
    memory.read = (...args) => {
      const file = memory.files.get("/work/large") ?? Buffer.alloc(0);
      memory.files.set("/work/large", Buffer.concat([file, Buffer.from("more")]));
      return read.apply(memory, args);
    };
    const { remote } = framePipe(memory, whole);
    await expect(remote.read("/work/large")).rejects.toThrow("changes while it is read");
    await remote.dispose();
  });

  it("requests the description of the workspace once", async () => {
    const { remote, sent } = framePipe(new MemoryWorkspace(), whole);
    await Promise.all([remote.describe(), remote.describe()]);
    await remote.describe();
    expect(sent).toHaveLength(1);
    await remote.dispose();
  });

  it("rejects at once on an abort, and cancels the request on the server", async () => {
    const { workspace, sent } = alone();
    const controller = new AbortController();
    const reading = workspace.list("/", { signal: controller.signal }).catch(code);
    controller.abort();
    expect(await reading).toBe("aborted");
    expect(sent.at(-1)).toEqual({ cancel: 1 });
    expect(await workspace.list("/", { signal: controller.signal }).catch(code)).toBe("aborted");
    expect(sent).toHaveLength(2);
    workspace.take({ id: 1, result: [] });
    await workspace.dispose();
  });

  it("cancels an upload that is aborted between its parts", async () => {
    const memory = new MemoryWorkspace();
    const { remote, sent } = framePipe(memory, whole);
    const controller = new AbortController();
    const { take } = remote;
    remote.take = (frame) => {
      const taken = take.call(remote, frame);
      controller.abort();
      return taken;
    };
    const bytes = new Uint8Array(MAX_PIECE_BYTES + 1);
    const { signal } = controller;
    expect(await remote.write("/work/a", bytes, { signal }).catch(code)).toBe("aborted");
    expect(sent.map((line) => line.slice(0, 20)).at(-1)).toBe('{"cancel":1}');
    expect(memory.files.has("/work/a")).toBe(false);
    await remote.dispose();
  });

  it("ends a command by its signal, and reports how it ended", async () => {
    const { remote } = framePipe(new MemoryWorkspace(), whole);
    const controller = new AbortController();
    const { signal } = controller;
    const process = await remote.spawn({ command: "wait", onOutput: () => {}, signal });
    controller.abort();
    expect(await process.done).toEqual({ exitCode: null, signal: "SIGTERM" });
    await process.kill();
    await remote.dispose();
  });

  it("is lost after two unanswered pings, with everything that is open", async () => {
    vi.useFakeTimers();
    const { workspace, sent, lost } = alone();
    const reading = workspace.read("/a").catch(code);
    const spawning = workspace.spawn({ command: "x", onOutput: () => {} });
    workspace.take({ id: 3, result: { processId: 1, pid: 2 } });
    const process = await spawning;
    vi.advanceTimersByTime(15_000);
    workspace.take({ id: 4, result: {} });
    vi.advanceTimersByTime(29_999);
    expect(lost).toEqual([]);
    vi.advanceTimersByTime(15_001);
    expect(lost).toEqual(["it does not answer"]);
    expect(await reading).toBe("lost");
    await expect(process.done).rejects.toThrow("workspace lost");
    expect(await workspace.stat("/").catch(code)).toBe("lost");
    expect(sent.filter(({ method }) => method === "ping")).toHaveLength(3);
  });

  it("holds output back for a slow listener, but not while an answer is pending", async () => {
    const memory = new MemoryWorkspace();
    const { remote } = framePipe(memory, whole);
    const slow = Promise.withResolvers<void>();
    let taken = 0;
    const process = await remote.spawn({
      command: "flood 400",
      onOutput: async () => {
        taken += 1;
        if (taken === 1) await slow.promise;
      },
    });
    await expect.poll(() => memory.flooded).toBe(400);
    expect(taken).toBe(1);
    // Its answer is queued behind held-back output.
    expect(await remote.stat("/work")).toMatchObject({ kind: "directory" });
    slow.resolve();
    expect(await process.done).toEqual({ exitCode: 0 });
    expect(taken).toBe(400);
    await remote.dispose();
  });

  it("tolerates any frames, and every call ends", async () => {
    const id = fc.oneof(fc.nat(8), fc.string());
    const frame = fc.oneof(
      fc.record({ id, result: fc.jsonValue() }),
      fc.record({ id, error: fc.jsonValue() }),
      fc.record({ id, event: fc.constantFrom("output", "exit", "other"), data: fc.jsonValue() }),
      fc.record({ id, event: fc.constant("exit"), exitCode: fc.jsonValue() }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame), async (frames) => {
        const { workspace } = alone();
        const calls = [
          workspace.stat("/"),
          workspace.list("/"),
          workspace.read("/a"),
          workspace.describe(),
          workspace.spawn({ command: "x", onOutput: () => {} }).then(({ done }) => done),
          workspace.write("/a", new Uint8Array(MAX_PIECE_BYTES + 1)),
        ];
        const ends = Promise.allSettled(calls);
        for (const each of frames) void workspace.take(each);
        workspace.lose("the test is over");
        await ends;
      }),
      { numRuns: 100 },
    );
  });
});
