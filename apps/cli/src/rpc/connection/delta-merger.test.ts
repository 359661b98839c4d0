import type { SessionEvent } from "@tau-agent/rpc-protocol/events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordFrames } from "../../../test/recording/record-host.ts";
import { reply, textBlock } from "./__fixtures__/test-events.ts";
import { DeltaMerger, type ReaderState } from "./delta-merger.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** @param frameMs - the time that a frame takes */
function create(intervalMs = 25, frameMs = 0) {
  const written: SessionEvent[] = [];
  const places: number[] = [];
  const drains: (() => void)[] = [];
  const state = { isDrained: true };
  const reader: ReaderState = {
    get isDrained() {
      return state.isDrained;
    },
    onDrain: (listener) => {
      drains.push(listener);
    },
    whenDrained: () =>
      state.isDrained ? undefined : new Promise<void>((resolve) => drains.push(resolve)),
  };
  const merger = new DeltaMerger(
    {
      write: (event, { seq }) => {
        written.push(event);
        places.push(seq);
        recordFrames([event]);
        if (frameMs > 0) vi.advanceTimersByTime(frameMs);
        return reader.whenDrained();
      },
      reader,
    },
    intervalMs,
  );
  let seq = 0;
  const push = (event: SessionEvent) => {
    seq += 1;
    return merger.push(event, { seq });
  };
  const drain = () => {
    state.isDrained = true;
    for (const listener of drains.splice(0)) listener();
  };
  return { merger, push, written, places, state, drain, shown: () => written.map(show) };
}

function show(event: SessionEvent): string {
  if (event.type !== "message_update") return event.type;
  const step = event.assistantMessageEvent;
  return "delta" in step ? `${step.contentIndex}:${step.delta}` : step.type;
}

const messageText = (event: SessionEvent | undefined): unknown =>
  event?.type === "message_update" && event.message.role === "assistant"
    ? event.message.content[0]
    : undefined;

describe("DeltaMerger", () => {
  it("writes a block's first delta at once and merges those that follow closely", () => {
    const { push, shown } = create();
    const [start, a, b, c] = textBlock(["a", "b", "c"]);
    for (const event of [start, a, b, c]) void push(event!);
    expect(shown()).toEqual(["text_start", "0:a"]);
    vi.advanceTimersByTime(24);
    expect(shown()).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(shown()).toEqual(["text_start", "0:a", "0:bc"]);
  });

  it("gives a merged delta the newest message", () => {
    const { push, written } = create();
    for (const event of textBlock(["a", "b", "c"]).slice(0, 4)) void push(event);
    vi.advanceTimersByTime(25);
    const last = written.at(-1);
    expect(messageText(last)).toEqual({ type: "text", text: "abc" });
    expect(last).toMatchObject({ assistantMessageEvent: { partial: reply("abc") } });
  });

  it("gives a merged delta the order of its last piece", () => {
    const { push, places } = create();
    for (const event of textBlock(["a", "b", "c"])) void push(event);
    expect(places).toEqual([1, 2, 4, 5]);
  });

  it("writes held-back deltas before any other event", () => {
    const { push, shown } = create();
    for (const event of textBlock(["a", "b", "c"])) void push(event);
    void push({ type: "message_end", message: reply("abc") });
    expect(shown()).toEqual(["text_start", "0:a", "0:bc", "text_end", "message_end"]);
    vi.advanceTimersByTime(100);
    expect(shown()).toHaveLength(5);
  });

  it("writes each delta separately when deltas arrive slowly", () => {
    const { push, shown } = create();
    for (const event of textBlock(["a", "b", "c"]).slice(0, 4)) {
      void push(event);
      vi.advanceTimersByTime(30);
    }
    expect(shown()).toEqual(["text_start", "0:a", "0:b", "0:c"]);
  });

  it("rests after a frame that took long, so that long messages do not take all the time", () => {
    const { push, shown } = create(25, 100);
    const [start, a, b, c, d] = textBlock(["a", "b", "c", "d"]);
    for (const event of [start, a, b]) void push(event!);
    vi.advanceTimersByTime(299);
    void push(c!);
    expect(shown()).toEqual(["text_start", "0:a"]);
    vi.advanceTimersByTime(1);
    expect(shown()).toEqual(["text_start", "0:a", "0:bc"]);
    void push(d!);
    expect(shown()).toHaveLength(3);
  });

  it("rests half a second at most, as after a frame during which the process was stopped", () => {
    const { push, shown } = create(25, 60_000);
    const [start, a, b] = textBlock(["a", "b"]);
    for (const event of [start, a, b]) void push(event!);
    vi.advanceTimersByTime(500);
    expect(shown()).toEqual(["text_start", "0:a", "0:b"]);
  });

  it("holds back deltas for a slow reader until it has caught up", () => {
    const { push, state, drain, shown } = create(0);
    const [start, a, b, c, d] = textBlock(["a", "b", "c", "d"]);
    for (const event of [start, a]) void push(event!);
    state.isDrained = false;
    for (const event of [b, c]) void push(event!);
    vi.advanceTimersByTime(500);
    expect(shown()).toEqual(["text_start", "0:a"]);
    void push(d!);
    drain();
    expect(shown()).toEqual(["text_start", "0:a", "0:bcd"]);
  });

  it("makes a reply wait once much is held back for a slow reader", async () => {
    const { push, state, drain, written } = create();
    const piece = "x".repeat(100_000);
    const [start, a, b, c, d] = textBlock([piece, piece, piece, piece, piece]);
    for (const event of [start, a]) void push(event!);
    state.isDrained = false;
    expect([b, c].map((event) => push(event!))).toEqual([undefined, undefined]);
    const wait = push(d!);
    expect(wait).toBeInstanceOf(Promise);
    vi.advanceTimersByTime(25);
    drain();
    await wait;
    expect(messageText(written.at(-1))).toEqual({ type: "text", text: piece.repeat(4) });
  });

  it("also makes a reply wait whose deltas alternate between blocks", async () => {
    const { push, state, drain, shown } = create();
    const [[, a], [, x, y], [, b]] = [textBlock(["a"]), textBlock(["x", "y"], 1), textBlock(["b"])];
    for (const event of [a, x, b]) void push(event!);
    state.isDrained = false;
    const wait = push(y!);
    expect(wait).toBeInstanceOf(Promise);
    drain();
    await wait;
    expect(shown()).toEqual(["0:a", "1:x", "0:b"]);
  });

  it("never merges deltas of two blocks", () => {
    const { push, shown } = create();
    for (const event of textBlock(["a", "b"]).slice(0, 3)) void push(event);
    for (const event of textBlock(["x", "y"], 1)) void push(event);
    expect(shown()).toEqual(["text_start", "0:a", "0:b", "text_start", "1:x", "1:y", "text_end"]);
  });

  it("merges nothing for a fast reader when there is no interval", () => {
    const { push, shown } = create(0);
    for (const event of textBlock(["a", "b", "c"])) void push(event);
    expect(shown()).toEqual(["text_start", "0:a", "0:b", "0:c", "text_end"]);
  });

  it("loses, duplicates and reorders nothing, in whatever order events, time and reader proceed", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ block: fc.nat(2), text: fc.string({ maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.constantFrom("other", "behind", "drain") },
      { weight: 2, arbitrary: fc.constantFrom(5, 30) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 25), (steps, interval) => {
        const { push: pushNext, written, state, drain } = create(interval);
        const sent: SessionEvent[] = [];
        const push = (event: SessionEvent) => {
          sent.push(event);
          void pushNext(event);
        };
        for (const next of steps) {
          if (typeof next === "number") vi.advanceTimersByTime(next);
          else if (next === "behind") state.isDrained = false;
          else if (next === "drain") drain();
          else if (next === "other") push({ type: "turn_start" });
          else push(textBlock([next.text], next.block)[1]!);
        }
        push({ type: "turn_start" });
        expect(joined(written)).toEqual(joined(sent));
      }),
    );
  });
});

/** The adjacent deltas of one block merged into one text, all other events as their type. */
function joined(events: readonly SessionEvent[]): string[] {
  const result: string[] = [];
  let block: number | undefined;
  for (const event of events) {
    const step = event.type === "message_update" ? event.assistantMessageEvent : undefined;
    if (step === undefined || !("delta" in step)) {
      result.push(event.type);
      block = undefined;
    } else if (step.contentIndex === block) {
      result.push(`${result.pop()}${step.delta}`);
    } else {
      block = step.contentIndex;
      result.push(`${block}:${step.delta}`);
    }
  }
  return result;
}
