import { toolCall, turn } from "@tau-agent/ai/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createTestSession, isType, userTexts } from "../create/__fixtures__/test-session.ts";

// Test files of a worker share modules: this file loads its own copies, on top of the disk below.
const disk = vi.hoisted(() => {
  vi.resetModules();
  return { freeBytes: Number.POSITIVE_INFINITY };
});
afterAll(() => void vi.resetModules());

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
    writeSync: (file: number, bytes: Buffer, offset: number, length: number) => {
      if (disk.freeBytes === 0) throw new TypeError("ENOSPC: no space left on device");
      const written = Math.min(length, disk.freeBytes);
      disk.freeBytes -= written;
      return fs.writeSync(file, bytes, offset, written);
    },
  };
});

const withFullDisk = async <T>(freeBytes: number, step: () => Promise<T>): Promise<T> => {
  disk.freeBytes = freeBytes;
  try {
    return await step();
  } finally {
    disk.freeBytes = Number.POSITIVE_INFINITY;
  }
};

describe("a session on a full disk", () => {
  it("fails the prompt that cannot be stored, and the next prompt works", async () => {
    const { session, events, written } = await createTestSession(["one", "two"]);
    await session.prompt("first");
    const before = written();
    const failed = await withFullDisk(5, () => session.prompt("lost", { id: "2" }));
    expect(failed).toMatchObject({ id: "2", status: "error", code: "session_write_failed" });
    expect(failed.error).toContain("no space left");
    expect(events.find(isType("error"))).toMatchObject({ code: "session_write_failed" });
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(count("turn_end")).toBe(count("turn_start"));
    expect(written()).toEqual(before);
    expect(userTexts(session.messages)).toEqual(["first"]);
    expect(await session.prompt("second")).toMatchObject({ status: "completed" });
    expect(userTexts(session.messages)).toEqual(["first", "second"]);
  });

  it("gives every queued prompt its result", async () => {
    const { session } = await createTestSession(["one", "two", "three"]);
    const first = await session.submit("first", { id: "1" });
    const steered = await session.submit("second", { streamingBehavior: "steer", id: "2" });
    const queued = await session.submit("third", { streamingBehavior: "followUp", id: "3" });
    const steer = await session.steer("fourth");
    const accepted = [first, steered, queued, steer];
    const results = await withFullDisk(0, () => Promise.all(accepted.map(({ result }) => result)));
    expect(results.map(({ status }) => status)).toEqual(["error", "error", "error", "error"]);
    expect(session.state.pendingMessageCount).toBe(0);
    expect(session.messages).toEqual([]);
  });

  it("ends the run if the disk is full before a subagent begins, and can still be closed", async () => {
    const { session } = await createTestSession([
      turn(toolCall("task", { task: "look" })),
      "never",
    ]);
    session.subscribe((event) => {
      if (event.type === "tool_execution_start") disk.freeBytes = 0;
    });
    const result = await session.prompt("go");
    disk.freeBytes = Number.POSITIVE_INFINITY;
    expect(result).toMatchObject({ status: "error", code: "session_write_failed" });
    await session.dispose();
  });

  it("ends a run in the middle, with memory and file in agreement", async () => {
    const { session, written } = await createTestSession([
      turn([toolCall("ls", { path: "." })]),
      "never",
      "later",
    ]);
    session.subscribe((event) => {
      if (event.type === "tool_execution_start") disk.freeBytes = 20;
    });
    const result = await session.prompt("go");
    disk.freeBytes = Number.POSITIVE_INFINITY;
    expect(result.status).toBe("error");
    const stored = () =>
      written().flatMap(({ type, message }) => (type === "message" ? [message] : []));
    expect(stored()).toEqual(JSON.parse(JSON.stringify(session.messages)));
    expect(await session.prompt("again")).toMatchObject({ status: "completed" });
    expect(stored()).toEqual(JSON.parse(JSON.stringify(session.messages)));
  });

  it("does not switch to a model that it could not record", async () => {
    const { session } = await createTestSession(["one"]);
    await session.prompt("first");
    const { model } = session.models;
    const other = { ...model!, id: "other", reasoning: false };
    await withFullDisk(0, async () => expect(() => session.models.use(other)).toThrow("no space"));
    expect(session.models.model).toBe(model);
    const { thinkingLevel } = session.models;
    const wanted = thinkingLevel === "high" ? "low" : "high";
    await withFullDisk(0, async () =>
      expect(() => session.models.setThinkingLevel(wanted)).toThrow("no space"),
    );
    expect(session.models.thinkingLevel).toBe(thinkingLevel);
  });

  it("holds back shell results until there is room", async () => {
    const { session } = await createTestSession(["one", "two"]);
    session.subscribe(async (event) => {
      if (event.type !== "turn_end" || session.messages.length > 2) return;
      await session.bash.run("printf kept");
      disk.freeBytes = 0;
    });
    await session.prompt("first");
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    disk.freeBytes = Number.POSITIVE_INFINITY;
    await session.prompt("second");
    expect(session.messages.map(({ role }) => role)).toContain("bashExecution");
  });
});
