import type { EventOrder } from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent, SessionEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { FlushClock } from "./flush-clock.ts";

type DeltaEvent = Extract<AssistantMessageEvent, { delta: string }>;

/** Deltas of one block that are held back to be sent as one; message and order are those of the last. */
interface Held {
  event: DeltaEvent;
  message: AssistantMessage;
  order: EventOrder;
  text: string;
}

export interface ReaderState {
  /** Whether the reader has accepted everything written so far. */
  readonly isDrained: boolean;
  onDrain(listener: () => void): void;
  /** Resolves once the reader has caught up; undefined if it has. Senders should wait for it. */
  whenDrained(): void | Promise<void>;
  /** The clock that decides when held-back deltas are sent; by default, each merger has its own. */
  readonly flushes?: FlushClock;
}

export interface DeltaSink {
  readonly write: (event: SessionEvent, order: EventOrder) => void | Promise<void>;
  readonly reader: ReaderState;
}

/**
 * The minimum interval between deltas of one block, unless the client requests another (`mergeMs` of
 * `initialize`). In both forms, a frame is longer than its delta: in the full form by the whole message, in
 * the delta form by the envelope.
 */
export const MERGE_INTERVAL_MS = 25;

/**
 * How long the next delta is held back at least, in multiples of the time that the last frame took. Otherwise, frames
 * with a long message would take longer than the interval, and there would be one per delta.
 */
const REST_PER_FRAME = 3;
/** The longest such rest: a frame also takes long if the process was stopped meanwhile. */
const MAX_REST_MS = 500;

/** The maximum held back for a slow reader; beyond it, the reply has to wait. */
const MAX_HELD_CHARACTERS = 256 * 1024;

/**
 * Merges adjacent deltas of one block while the reader is behind or the last frame is less than `intervalMs` old, or
 * longer if it took long. A frame of the full form contains the whole message, so a frame per delta would be quadratic,
 * and in the delta form a frame is longer than its delta. A block's first delta is sent at once; nothing else is delayed,
 * merged or reordered. Once much is held back, the sender has to wait, so that a stalled reader costs little memory.
 */
export class DeltaMerger {
  readonly #sink: DeltaSink;
  readonly #intervalMs: number;
  readonly #clock: FlushClock;
  #pending: Held | undefined;
  /** When the next delta may be written. */
  #dueMs = Number.NEGATIVE_INFINITY;
  #isFirstOfBlock = true;

  constructor(sink: DeltaSink, intervalMs: number) {
    this.#sink = sink;
    this.#intervalMs = intervalMs;
    this.#clock = sink.reader.flushes ?? new FlushClock();
  }

  /** Takes the next event; returns a promise if the reader is behind and the event could not be held back. */
  push(event: SessionEvent, order: EventOrder): void | Promise<void> {
    if (event.type !== "message_update" || !isDelta(event.assistantMessageEvent)) {
      this.flush();
      this.#isFirstOfBlock = true;
      return this.#sink.write(event, order);
    }
    return this.#pushDelta(event.assistantMessageEvent, event.message as AssistantMessage, order);
  }

  flush(): void | Promise<void> {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    this.#clock.clear(this.#flushWhenDrained);
    const { event, message, order, text } = pending;
    const isOne = text.length === event.delta.length;
    return this.#write(isOne ? event : { ...event, delta: text }, message, order);
  }

  #pushDelta(
    event: DeltaEvent,
    message: AssistantMessage,
    order: EventOrder,
  ): void | Promise<void> {
    const pending = this.#pending;
    if (pending !== undefined && isSameBlock(pending.event, event)) {
      pending.text += event.delta;
      pending.event = event;
      pending.message = message;
      pending.order = order;
      return pending.text.length > MAX_HELD_CHARACTERS ? this.#wait() : undefined;
    }
    const wait = this.flush();
    const isFree = this.#sink.reader.isDrained && this.#dueMs <= performance.now();
    if (this.#isFirstOfBlock || isFree) {
      this.#isFirstOfBlock = false;
      return this.#write(event, message, order);
    }
    this.#pending = { event, message, order, text: event.delta };
    this.#clock.set(this.#flushWhenDrained, this.#dueMs);
    return wait;
  }

  /** If no sender waits for the reader, its writer counts the unread bytes. */
  #wait(): void | Promise<void> {
    return this.#sink.reader.whenDrained() ?? this.flush();
  }

  readonly #flushWhenDrained = (): void => {
    if (this.#sink.reader.isDrained) void this.flush();
    else this.#sink.reader.onDrain(() => void this.flush());
  };

  #write(event: DeltaEvent, message: AssistantMessage, order: EventOrder): void | Promise<void> {
    const beganMs = performance.now();
    const wait = this.#sink.write(
      { type: "message_update", message, assistantMessageEvent: event },
      order,
    );
    const endedMs = performance.now();
    this.#dueMs = beganMs + this.#intervalMs;
    // A client that wants no interval wants each delta.
    if (this.#intervalMs > 0) {
      const restMs = Math.min(REST_PER_FRAME * (endedMs - beganMs), MAX_REST_MS);
      this.#dueMs = Math.max(this.#dueMs, endedMs + restMs);
    }
    return wait;
  }
}

function isDelta(event: AssistantMessageEvent): event is DeltaEvent {
  return "delta" in event;
}

function isSameBlock(a: DeltaEvent, b: DeltaEvent): boolean {
  return a.type === b.type && a.contentIndex === b.contentIndex;
}
