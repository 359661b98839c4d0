import { describe, expect, it } from "vitest";
import { FrameQueue } from "./frame-queue.ts";

const violation = ({ type }: Record<string, unknown>) =>
  type === "wrong" ? "a wrong frame" : undefined;

describe("FrameQueue", () => {
  it("reports the problem of an invalid frame to the pending read", async () => {
    const frames = new FrameQueue(violation);
    const waiting = frames.next();
    frames.push({ type: "wrong" });
    await expect(waiting).rejects.toThrow("a wrong frame");
  });

  it("delivers the frames before an invalid one, and none after it", async () => {
    const frames = new FrameQueue(violation);
    const waiting = frames.next();
    for (const type of ["right", "wrong", "right"]) frames.push({ type });
    expect(await waiting).toEqual({ type: "right" });
    await expect(frames.next()).rejects.toThrow("a wrong frame");
  });
});
