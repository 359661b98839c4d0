import type { EventOrder } from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent, SessionEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { FlushClock } from "./flush-clock.ts";

type DeltaEvent = Extract<AssistantMessageEvent, { delta: string }>;

/** Deltas of one block that wait to leave as one; message and place are those of the last. */
interface Held {
  event: DeltaEvent;
  message: AssistantMessage;
  order: EventOrder;
  text: string;
}

export interface ReaderState {
  /** Whether the reader has taken everything written so far. */
  readonly isDrained: boolean;
  onDrain(listener: () => void): void;
  /** Resolves once the reader has caught up; undefined if it has. Senders should wait for it. */
  whenDrained(): void | Promise<void>;
  /** When what its senders hold back leaves; by default each has its own. */
  readonly flushes?: FlushClock;
}

export interface DeltaSink {
  readonly write: (event: SessionEvent, order: EventOrder) => void | Promise<void>;
  readonly reader: ReaderState;
}

/**
 * Deltas of one block are written at most this often, unless the client asks for another interval
 * (`mergeMs` of `initialize`). In both forms a frame is
 * longer than what it brings: by the whole message in the full form, in the other by its envelope.
 */
export const MERGE_INTERVAL_MS = 25;

/** More is not held back for a reader that is behind: the reply has to wait for it. */
const MAX_HELD_CHARACTERS = 256 * 1024;

/**
 * Merges adjacent deltas of one block while the reader is behind or the last frame is younger than
 * `intervalMs`: a frame of the full form carries the whole message, so a frame per delta would be
 * quadratic, and in the delta form a frame is longer than what it brings. A block's first delta
 * leaves at once; nothing else is delayed, merged or reordered. Once
 * much is held back, the sender has to wait, so that a reader that stops costs little memory.
 */
export class DeltaMerger {
  readonly #sink: DeltaSink;
  readonly #intervalMs: number;
  readonly #clock: FlushClock;
  #pending: Held | undefined;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #isFirstOfBlock = true;

  constructor(sink: DeltaSink, intervalMs: number) {
    this.#sink = sink;
    this.#intervalMs = intervalMs;
    this.#clock = sink.reader.flushes ?? new FlushClock();
  }

  /** Takes the next event; a promise when the reader is behind and the event could not wait. */
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
    const dueMs = this.#writtenAtMs + this.#intervalMs;
    const isFree = this.#sink.reader.isDrained && dueMs <= performance.now();
    if (this.#isFirstOfBlock || isFree) {
      this.#isFirstOfBlock = false;
      return this.#write(event, message, order);
    }
    this.#pending = { event, message, order, text: event.delta };
    this.#clock.set(this.#flushWhenDrained, dueMs);
    return wait;
  }

  /** Where nobody waits for the reader, its writer counts what it has not read. */
  #wait(): void | Promise<void> {
    return this.#sink.reader.whenDrained() ?? this.flush();
  }

  readonly #flushWhenDrained = (): void => {
    if (this.#sink.reader.isDrained) void this.flush();
    else this.#sink.reader.onDrain(() => void this.flush());
  };

  #write(event: DeltaEvent, message: AssistantMessage, order: EventOrder): void | Promise<void> {
    this.#writtenAtMs = performance.now();
    return this.#sink.write(
      { type: "message_update", message, assistantMessageEvent: event },
      order,
    );
  }
}

function isDelta(event: AssistantMessageEvent): event is DeltaEvent {
  return "delta" in event;
}

function isSameBlock(a: DeltaEvent, b: DeltaEvent): boolean {
  return a.type === b.type && a.contentIndex === b.contentIndex;
}
