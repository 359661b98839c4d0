import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { framePipe } from "./__fixtures__/frame-pipe.ts";
import { MemoryWorkspace } from "./__fixtures__/memory-workspace.ts";
import { encodeFrame, FrameLines, MAX_FRAME_BYTES } from "./frames.ts";
import type { Workspace } from "./workspace.ts";
import { isWorkspaceError } from "./workspace-error.ts";

type Step = (workspace: Workspace) => Promise<unknown>;

const path = fc.constantFrom("/work", "/work/a", "/work/b", "/work/a/c", "/work/a/c/d", "/none/x");
const bytes = fc.uint8Array({ maxLength: 40 });

async function runs(workspace: Workspace, command: string): Promise<unknown> {
  let output = "";
  const process = await workspace.spawn({
    command,
    onOutput: (piece, stream) => {
      output += `${stream}:${Buffer.from(piece).toString("base64")};`;
    },
  });
  if (command === "cat") {
    await process.write(Buffer.from("some input"));
    await process.endInput();
  }
  if (command === "wait") await process.kill("SIGINT");
  return { pid: process.pid, exit: await process.done, output };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((workspace) => workspace.describe()),
  path.map<Step>((at) => (workspace) => workspace.stat(at)),
  path.map<Step>((at) => async (workspace) => [...(await workspace.list(at))]),
  fc
    .tuple(path, fc.nat(20), fc.option(fc.nat(20), { nil: undefined }))
    .map<Step>(([at, offset, length]) => async (workspace) => {
      const read = await workspace.read(at, { offset, length });
      return Buffer.from(read).toString("hex");
    }),
  fc.tuple(path, bytes).map<Step>(
    ([at, content]) =>
      (workspace) =>
        workspace.write(at, content),
  ),
  fc.tuple(path, fc.boolean()).map<Step>(
    ([at, recursive]) =>
      (workspace) =>
        workspace.remove(at, { recursive }),
  ),
  fc.tuple(path, path).map<Step>(
    ([from, to]) =>
      (workspace) =>
        workspace.rename(from, to),
  ),
  path.map<Step>((at) => (workspace) => workspace.createDirectory(at)),
  path.map<Step>(
    (pattern) => async (workspace) =>
      workspace.search?.({ kind: "find", pattern, path: "/work", limit: 2 }),
  ),
  fc
    .constantFrom("echo hello", "exit 3", "cat", "wait", "nothing of this name")
    .map<Step>((command) => (workspace) => runs(workspace, command)),
);

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work };
  } catch (error) {
    if (!isWorkspaceError(error)) throw error;
    return { code: error.code, message: error.message, path: error.path };
  }
}

describe("a workspace behind frames", () => {
  it("behaves like the workspace itself, however its lines are split", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 50 }),
        async (steps, size) => {
          const local = new MemoryWorkspace();
          const { remote } = framePipe(new MemoryWorkspace(), (line) => {
            const pieces = [];
            for (let at = 0; at < line.length; at += size)
              pieces.push(line.subarray(at, at + size));
            return pieces;
          });
          for (const each of steps) {
            expect(await outcomeOf(each(remote))).toEqual(await outcomeOf(each(local)));
          }
          await remote.dispose();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("refuses a frame that exceeds the maximum line length", () => {
    expect(() => encodeFrame({ data: "x".repeat(MAX_FRAME_BYTES) })).toThrow("Larger than a frame");
    const rest = MAX_FRAME_BYTES - JSON.stringify({ data: "" }).length;
    const line = encodeFrame({ data: "x".repeat(rest) });
    const lines = new FrameLines();
    expect([...lines.push(Buffer.from(line))]).toHaveLength(1);
    expect([...lines.push(Buffer.from(` ${line}{}\n`))]).toEqual([undefined, {}]);
  });
});
