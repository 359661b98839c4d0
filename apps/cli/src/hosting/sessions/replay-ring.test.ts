import type { SessionEvent } from "@tau-agent/rpc-protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reply, textBlock } from "../../rpc/connection/__fixtures__/test-events.ts";
import { type ReplayedFrame, ReplayRing } from "./replay-ring.ts";

const roomy = { maxFrames: 1_000, maxBytes: 1_000_000 };

/** The events of a reply with one block, streamed in pieces. */
function replyOf(pieces: readonly string[]): SessionEvent[] {
  const message = reply(pieces.join(""));
  return [
    { type: "message_start", message: reply("") },
    ...textBlock(pieces),
    { type: "message_end", message },
  ];
}

function fill(ring: ReplayRing, events: readonly SessionEvent[]): void {
  for (const frame of events) ring.push({ kind: "event", frame }, { seq: ring.lastSeq + 1 });
}

/** The text that a client assembles from deltas and ends of blocks. */
function read(frames: Iterable<{ frame: object }>, start = ""): string {
  let text = start;
  for (const { frame } of frames) {
    const { assistantMessageEvent: step } = frame as { assistantMessageEvent?: never };
    const { type, delta, content } = (step ?? {}) as Record<string, string>;
    if (type === "text_start") text = "";
    if (type === "text_delta") text += delta;
    if (type === "text_end") text = content ?? "";
  }
  return text;
}

const seqsOf = (frames: Iterable<ReplayedFrame>) => [...frames].map(({ order }) => order.seq);

describe("the frames kept for clients that attach again", () => {
  it("lead from any cursor to the state of a client that never disconnected", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.string({ maxLength: 4 }), { maxLength: 6 }), { maxLength: 3 }),
        fc.nat(),
        fc.nat(),
        (replies, at, cut) => {
          const events = replies.flatMap(replyOf);
          const now = events.slice(0, events.length === 0 ? 0 : at % (events.length + 1));
          const ring = new ReplayRing(roomy);
          fill(ring, now);
          const cursor = now.length === 0 ? 0 : cut % (now.length + 1);
          const seen = read(now.slice(0, cursor).map((frame) => ({ frame })));
          const missed = [...ring.after(cursor)];
          expect(read(missed, seen)).toBe(read(now.map((frame) => ({ frame }))));
          expect(seqsOf(missed).every((seq) => seq > cursor)).toBe(true);
          expect(seqsOf(missed)).toEqual(seqsOf(missed).toSorted((a, b) => a - b));
        },
      ),
    );
  });

  it("never repeat a piece of a block that the client already has", () => {
    const ring = new ReplayRing(roomy);
    fill(ring, replyOf(["a", "b", "c", "d"]).slice(0, 6));
    const [tail] = [...ring.after(4)];
    expect(tail?.frame).toMatchObject({ assistantMessageEvent: { delta: "cd" } });
    expect(tail?.order).toEqual({ seq: 6 });
  });

  it("contain the end of a block instead of its pieces", () => {
    const ring = new ReplayRing({ maxFrames: 4, maxBytes: 1_000_000 });
    fill(ring, replyOf(Array.from({ length: 5_000 }, () => "x")));
    expect(ring.problemWith(0)).toBeUndefined();
    expect(seqsOf(ring.after(0))).toEqual([1, 2, 5_003, 5_004]);
  });

  it("contain only the latest progress of a running tool, and none of one that has ended", () => {
    const ring = new ReplayRing(roomy);
    const call = { toolCallId: "1", toolName: "bash", args: {} };
    const partialResult = { content: [], details: {} };
    const update: SessionEvent = { type: "tool_execution_update", ...call, partialResult };
    fill(ring, [{ type: "tool_execution_start", ...call }, update, update, update]);
    expect(seqsOf(ring.after(0))).toEqual([1, 4]);
    const result = { content: [], details: {} };
    const { args: _, ...ended } = { ...call, result, isError: false };
    fill(ring, [{ type: "tool_execution_end", ...ended }]);
    expect(seqsOf(ring.after(0))).toEqual([1, 5]);
  });

  it("are limited in number and in bytes; older cursors are refused as too old", () => {
    for (const limits of [
      { maxFrames: 3, maxBytes: 1_000_000 },
      { maxFrames: 1_000, maxBytes: 300 },
    ]) {
      const ring = new ReplayRing(limits);
      fill(
        ring,
        Array.from({ length: 10 }, (): SessionEvent => ({ type: "turn_start" })),
      );
      const [first = 0] = seqsOf(ring.after(0));
      expect(first).toBeGreaterThan(5);
      expect(ring.problemWith(first - 2)).toBe("cursor_too_old");
      expect(ring.problemWith(first - 1)).toBeUndefined();
      expect(ring.problemWith(10)).toBeUndefined();
      expect(ring.problemWith(11)).toBe("cursor_ahead");
    }
  });
});
