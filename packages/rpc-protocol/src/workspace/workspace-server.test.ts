import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "./__fixtures__/memory-workspace.ts";
import { encodeFrame, FrameLines, MAX_PIECE_BYTES } from "./frames.ts";
import { WorkspaceServer } from "./workspace-server.ts";

type Sent = Readonly<Record<string, unknown>>;

function serve(workspace = new MemoryWorkspace()) {
  const sent: Sent[] = [];
  const server = new WorkspaceServer(workspace, (frame) => void sent.push(frame));
  const ask = async (frame: unknown): Promise<readonly Sent[]> => {
    const before = sent.length;
    server.take(frame);
    await settled();
    return sent.slice(before);
  };
  return { workspace, server, sent, ask };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("WorkspaceServer", () => {
  it("answers with the results shown in the document", async () => {
    const { ask } = serve();
    const call = async (method: string, params: object) =>
      (await ask({ id: 1, method, params }))[0];
    expect(await call("ping", {})).toEqual({ id: 1, result: {} });
    expect(await call("write", { path: "/work/a", data: base64("hello") })).toEqual({
      id: 1,
      result: {},
    });
    expect(await call("read", { path: "/work/a", offset: 1, length: 3 })).toEqual({
      id: 1,
      result: { data: base64("ell") },
    });
    expect(await call("stat", { path: "/none" })).toEqual({ id: 1, result: null });
    expect(await call("list", { path: "/work" })).toEqual({
      id: 1,
      result: [{ name: "a", kind: "file" }],
    });
    expect(await call("read", { path: "/none" })).toEqual({
      id: 1,
      error: { code: "not_found", message: "No such file or folder", path: "/none" },
    });
    expect(await call("describe", {})).toMatchObject({ id: 1, result: { platform: "linux" } });
  });

  it("answers an unknown method with unsupported, and names invalid members", async () => {
    const { ask } = serve();
    expect(await ask({ id: "a", method: "toString" })).toMatchObject([
      { id: "a", error: { code: "unsupported" } },
    ]);
    const wrong = [
      ["read", { path: 5 }, "path"],
      ["read", {}, "path"],
      ["read", { path: "/a", offset: -1 }, "offset"],
      ["write", { path: "/a", data: "no base64!" }, "data"],
      ["stat", { path: "/a", within: { allow: [] } }, "within"],
      ["spawn", { command: [1] }, "command"],
      ["spawn", { command: "cat", stdin: "maybe" }, "stdin"],
      ["spawn", { command: "cat", environment: { A: 1 } }, "environment"],
      ["search", { kind: "other", pattern: "", path: "/", limit: 1 }, "kind"],
      ["kill", {}, "processId"],
      ["ping", "text", "params"],
    ] as const;
    for (const [method, params, name] of wrong) {
      const [answer] = await ask({ id: 2, method, params });
      expect(answer).toMatchObject({ id: 2, error: { code: "failed" } });
      expect(JSON.stringify(answer)).toContain(`\\"${name}\\"`);
    }
  });

  it("answers an invalid request with bad_frame, and continues with the next", async () => {
    const { ask } = serve();
    for (const frame of [undefined, [], 5, {}, { id: 1 }, { id: {}, method: "ping" }]) {
      expect(await ask(frame)).toEqual([{ error: { code: "bad_frame" } }]);
    }
    await ask({ id: 1, method: "spawn", params: { command: "wait" } });
    expect(await ask({ id: 1, method: "ping" })).toEqual([{ error: { code: "bad_frame" } }]);
    expect(await ask({ id: 2, method: "ping" })).toEqual([{ id: 2, result: {} }]);
  });

  it("answers spawn at once, then sends output and end", async () => {
    const { ask, server } = serve();
    const params = { command: "echo hi" };
    expect(await ask({ id: 4, method: "spawn", params })).toEqual([
      { id: 4, result: { processId: 1, pid: 7 } },
      { id: 4, event: "output", stream: "stdout", data: base64("hi") },
      { id: 4, event: "exit", exitCode: 0 },
    ]);
    await ask({ id: 5, method: "spawn", params: { command: "cat", stdin: "open" } });
    const input = { processId: 2, data: base64("x") };
    expect(await ask({ id: 6, method: "write_input", params: input })).toEqual([
      { id: 5, event: "output", stream: "stderr", data: base64("x") },
      { id: 6, result: {} },
    ]);
    server.take({ cancel: 5 });
    await settled();
    expect(await ask({ id: 7, method: "kill", params: { processId: 2 } })).toMatchObject([
      { id: 7, error: { code: "not_found" } },
    ]);
  });

  it("replaces a file with the last part of an upload, but not if a part is missing", async () => {
    const { ask, workspace } = serve();
    const part = (data: string, more: object = {}) =>
      ask({
        id: 1,
        method: "write",
        params: { path: "/work/a", data: base64(data), upload: 9, ...more },
      });
    await part("one ");
    await part("two ");
    expect(workspace.files.has("/work/a")).toBe(false);
    expect(await part("three", { last: true })).toEqual([{ id: 1, result: {} }]);
    expect(String(Buffer.from(workspace.files.get("/work/a") ?? []))).toBe("one two three");
    await part("lost ");
    await ask({ cancel: 1 });
    expect(await part("rest", { last: true })).toMatchObject([{ error: { code: "aborted" } }]);
    expect(String(Buffer.from(workspace.files.get("/work/a") ?? []))).toBe("one two three");
  });

  it("returns at most 4 MiB of a file in one answer", async () => {
    const { ask, workspace } = serve();
    workspace.files.set("/work/large", new Uint8Array(MAX_PIECE_BYTES + 5));
    const [answer] = await ask({ id: 1, method: "read", params: { path: "/work/large" } });
    const { data } = Object(answer?.result) as { data: string };
    expect(Buffer.from(data, "base64")).toHaveLength(MAX_PIECE_BYTES);
  });

  it("answers too_large if names do not fit in a line, and truncates matches", async () => {
    const workspace = new MemoryWorkspace();
    const name = "n".repeat(250);
    for (let count = 0; count < 40_000; count += 1) {
      workspace.files.set(`/work/${name}${count}`, new Uint8Array());
    }
    const { ask } = serve(workspace);
    expect(await ask({ id: 1, method: "list", params: { path: "/work" } })).toMatchObject([
      { id: 1, error: { code: "too_large", path: "/work" } },
    ]);
    const params = { kind: "find", pattern: "n", path: "/work", limit: 50_000 };
    const [answer] = await ask({ id: 2, method: "search", params });
    expect(answer).toMatchObject({ result: { truncated: true } });
    expect(() => encodeFrame(answer ?? {})).not.toThrow();
  });

  it("pauses a command while the reader is slow", async () => {
    const workspace = new MemoryWorkspace();
    let slow = Promise.withResolvers<void>();
    let count = 0;
    const server = new WorkspaceServer(workspace, () => {
      count += 1;
      if (count < 5) return;
      slow = Promise.withResolvers();
      return slow.promise;
    });
    server.take({ id: 1, method: "spawn", params: { command: "flood 100" } });
    await settled();
    expect(workspace.flooded).toBe(3);
    slow.resolve();
    await settled();
    expect(workspace.flooded).toBe(4);
    server.take({ cancel: 1 });
    slow.resolve();
    await settled();
    expect(workspace.running).toBe(0);
  });

  it("ends its commands when it ends, and sends nothing more", async () => {
    const { ask, server, sent, workspace } = serve();
    await ask({ id: 1, method: "spawn", params: { command: "wait" } });
    const before = sent.length;
    await server.end();
    expect(workspace.running).toBe(0);
    expect(sent).toHaveLength(before);
  });

  it("answers each request once, whatever else arrives, in any order and splitting", async () => {
    const id = fc.oneof(fc.nat(3), fc.constantFrom("a", "b"));
    const params = fc.oneof(
      fc.record({ path: fc.constantFrom("/work", "/work/a") }),
      fc.record({ path: fc.constant("/work/a"), data: fc.constant("aGk="), upload: fc.nat(2) }),
      fc.record({ command: fc.constantFrom("echo a", "exit 1", "wait", "cat", "flood 3", "no") }),
      fc.record({ processId: fc.nat(3), data: fc.constant("aGk=") }),
      fc.jsonValue(),
    );
    const method = fc.oneof(
      fc.constantFrom("stat", "list", "read", "write", "remove", "spawn", "kill", "end_input"),
      fc.constantFrom("write_input", "ping", "describe", "search", "other", "__proto__"),
    );
    const frame = fc.oneof(
      { weight: 5, arbitrary: fc.record({ id, method, params }) },
      fc.record({ cancel: id }),
      fc.jsonValue(),
    );
    const line = fc.oneof(
      { weight: 9, arbitrary: frame.map((each) => JSON.stringify(each)) },
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 30 }), async (lines, size) => {
        const { server, sent, workspace } = serve();
        const decoder = new FrameLines();
        const taken: unknown[] = [];
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(""));
        for (let at = 0; at < bytes.length; at += size) {
          for (const each of decoder.push(bytes.subarray(at, at + size))) {
            taken.push(each);
            server.take(each);
          }
          if (at % 5 === 0) await settled();
        }
        // Ends what is still running, so that it is answered, too.
        for (const each of [0, 1, 2, 3, "a", "b"]) server.take({ cancel: each });
        await settled();
        const requests = taken.filter(
          (each) => !("cancel" in Object(each) && !("id" in Object(each))),
        );
        const answers = sent.filter((each) => "result" in each || "error" in each);
        expect(answers).toHaveLength(requests.length);
        const started = sent.filter((each) => "processId" in Object(each.result));
        expect(sent.filter((each) => each.event === "exit")).toHaveLength(started.length);
        expect(workspace.running).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
