import type {
  EventOrder,
  ExtensionUiRequest,
  RequestFrame,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";

export interface RingLimits {
  readonly maxFrames: number;
  readonly maxBytes: number;
}

/** Why frames after a cursor cannot be replayed. */
export type CursorProblem = "cursor_too_old" | "cursor_ahead";

export type KeptFrame =
  | { readonly kind: "event"; readonly frame: SessionEvent }
  | { readonly kind: "request"; readonly frame: RequestFrame }
  | { readonly kind: "notice"; readonly frame: ExtensionUiRequest };

export type ReplayedFrame = KeptFrame & { readonly order: EventOrder };

type UpdateEvent = Extract<SessionEvent, { type: "message_update" }>;
type DeltaStep = Extract<AssistantMessageEvent, { delta: string }>;

interface Whole {
  readonly kept: KeptFrame;
  readonly order: EventOrder;
  readonly bytes: number;
}

/** Adjacent deltas of one block, which count as one frame. */
interface Deltas {
  text: string;
  /** The number of each delta and the length of the text up to it, as plain numbers to avoid an object per delta. */
  readonly seqs: number[];
  readonly ends: number[];
  step: DeltaStep;
  event: UpdateEvent;
  order: EventOrder;
  bytes: number;
}

/** The size of a delta without its text. */
const ENVELOPE_BYTES = 64;

/**
 * The last frames of a session, for clients that attach again. Once a block has ended, its deltas are
 * dropped, because the frame of its end contains the whole block. Of a tool's progress, only the latest
 * report is kept, and none once its call has ended.
 */
export class ReplayRing {
  readonly #limits: RingLimits;
  /** In the order of the frames. */
  readonly #entries = new Map<number, Whole | Deltas>();
  /** The last entry, if it consists of deltas and can still grow. */
  #growing: Deltas | undefined;
  /** The entries with deltas of the reply that is streaming. */
  readonly #open = new Set<number>();
  /** The entry with the latest progress of each running call. */
  readonly #progress = new Map<string, number>();
  #bytes = 0;
  #nextKey = 0;
  /** The last frame that was dropped to make room. */
  #floor = 0;
  #lastSeq = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Records the number of a frame that is not kept. */
  skip(seq: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  /** Adds a frame; drops the oldest frames if there is no room. */
  push(kept: KeptFrame, order: EventOrder): void {
    this.skip(order.seq);
    const { frame } = kept;
    if (frame.type === "message_update" && isDelta(frame.assistantMessageEvent)) {
      this.#pushDelta(frame, frame.assistantMessageEvent, order);
    } else {
      this.#growing = undefined;
      if (kept.kind === "event") this.#forget(kept.frame);
      const bytes = sizeOf(frame);
      const key = this.#add({ kept, order, bytes }, bytes);
      if (frame.type === "tool_execution_update") this.#progress.set(frame.toolCallId, key);
    }
    this.#makeRoom();
  }

  /** Why the frames after a cursor cannot be replayed; undefined if they can. */
  problemWith(after: number): CursorProblem | undefined {
    if (after > this.#lastSeq) return "cursor_ahead";
    return after < this.#floor ? "cursor_too_old" : undefined;
  }

  *after(cursor: number): Generator<ReplayedFrame, void> {
    for (const entry of this.#entries.values()) {
      if (entry.order.seq <= cursor) continue;
      if ("kept" in entry) yield { ...entry.kept, order: entry.order };
      else yield tailOf(entry, cursor);
    }
  }

  #pushDelta(event: UpdateEvent, step: DeltaStep, order: EventOrder): void {
    const { delta } = step;
    const growing = this.#growing;
    if (growing !== undefined && isSameBlock(growing.step, step)) {
      growing.text += delta;
      growing.seqs.push(order.seq);
      growing.ends.push(growing.text.length);
      const bytes = delta.length + ENVELOPE_BYTES;
      growing.bytes += bytes;
      this.#bytes += bytes;
      growing.step = step;
      growing.event = event;
      growing.order = order;
      return;
    }
    const bytes = delta.length + 2 * ENVELOPE_BYTES;
    const place = { seqs: [order.seq], ends: [delta.length] };
    const deltas = { text: delta, ...place, step, event, order, bytes };
    this.#open.add(this.#add(deltas, bytes));
    this.#growing = deltas;
  }

  #forget(event: SessionEvent): void {
    if (event.type === "message_end") {
      for (const key of this.#open) this.#drop(key);
      this.#open.clear();
    } else if (event.type === "message_update") {
      const step = event.assistantMessageEvent;
      if (!("contentIndex" in step) || !step.type.endsWith("_end")) return;
      for (const key of this.#open) {
        const entry = this.#entries.get(key);
        if (entry === undefined || "kept" in entry) continue;
        if (entry.step.contentIndex !== step.contentIndex) continue;
        this.#drop(key);
        this.#open.delete(key);
      }
    } else if (event.type === "tool_execution_update" || event.type === "tool_execution_end") {
      const key = this.#progress.get(event.toolCallId);
      if (key !== undefined) this.#drop(key);
      this.#progress.delete(event.toolCallId);
    }
  }

  #add(entry: Whole | Deltas, bytes: number): number {
    const key = this.#nextKey;
    this.#nextKey += 1;
    this.#entries.set(key, entry);
    this.#bytes += bytes;
    return key;
  }

  #drop(key: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  #makeRoom(): void {
    const { maxFrames, maxBytes } = this.#limits;
    while (this.#entries.size > maxFrames || (this.#bytes > maxBytes && this.#entries.size > 0)) {
      const [oldest] = this.#entries;
      if (oldest === undefined) break;
      const [key, entry] = oldest;
      this.#floor = entry.order.seq;
      this.#drop(key);
      this.#open.delete(key);
      if (entry === this.#growing) this.#growing = undefined;
    }
  }
}

/** The deltas after a cursor, merged into one. */
function tailOf({ text, seqs, ends, step, event, order }: Deltas, cursor: number): ReplayedFrame {
  const last = seqs.findLastIndex((seq) => seq <= cursor);
  const delta = text.slice(ends[last] ?? 0);
  return { kind: "event", frame: { ...event, assistantMessageEvent: { ...step, delta } }, order };
}

function isDelta(step: AssistantMessageEvent): step is DeltaStep {
  return "delta" in step;
}

function isSameBlock(a: DeltaStep, b: DeltaStep): boolean {
  return a.type === b.type && a.contentIndex === b.contentIndex;
}

/** The approximate size of a frame as JSON; the accumulated reply is not counted again with each step. */
function sizeOf(frame: KeptFrame["frame"]): number {
  if (frame.type !== "message_update") return JSON.stringify(frame).length + ENVELOPE_BYTES;
  const { partial: _, ...step } = frame.assistantMessageEvent as { partial?: unknown };
  return JSON.stringify(step).length + ENVELOPE_BYTES;
}
