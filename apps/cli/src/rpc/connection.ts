import type { SessionEvent, StreamForm } from "@tau-agent/rpc-protocol";
import { DeltaMerger } from "./delta-merger.ts";
import { EventEncoder } from "./encode-event.ts";
import type { FrameWriter } from "./writer.ts";

/** A frame that carries a whole message is written at most this often per block. */
const FULL_FORM_INTERVAL_MS = 25;

/** What one client has asked for, and the way events take to it. */
export class Connection {
  readonly writer: FrameWriter;
  readonly #encoder = new EventEncoder();
  #merger: DeltaMerger;
  #events: ReadonlySet<string> | undefined;
  /** Set by `initialize`: additive fields may be sent. */
  isInitialized = false;

  constructor(writer: FrameWriter) {
    this.writer = writer;
    this.#merger = this.#createMerger();
  }

  get streamForm(): StreamForm {
    return this.#encoder.form;
  }

  /** Chooses how replies are streamed from now on. */
  setStreamForm(form: StreamForm): void {
    void this.#merger.flush();
    this.#encoder.form = form;
    this.#merger = this.#createMerger();
  }

  /** Sends only events of these types; undefined sends all. */
  setEventFilter(types: readonly string[] | undefined): void {
    this.#events = types === undefined ? undefined : new Set(types);
  }

  /** Sends an event; a promise when the client is behind and the sender should wait. */
  send(event: SessionEvent): void | Promise<void> {
    if (this.#events !== undefined && !this.#events.has(event.type)) return;
    // The end of the tool brings the whole output, so progress may be left out for a slow reader.
    if (event.type === "tool_execution_update" && !this.writer.isDrained) return;
    return this.#merger.push(event);
  }

  #createMerger(): DeltaMerger {
    const { writer } = this;
    const sink = {
      write: (event: SessionEvent) => writer.write(this.#encode(event)),
      isDrained: () => writer.isDrained,
      onDrain: (listener: () => void) => writer.onDrain(listener),
    };
    return new DeltaMerger(sink, this.#encoder.form === "full" ? FULL_FORM_INTERVAL_MS : 0);
  }

  #encode(event: SessionEvent): string {
    return this.#encoder.encode(this.isInitialized ? event : withoutAdditions(event));
  }
}

/** Before `initialize` a documented frame has exactly its documented keys. */
function withoutAdditions(event: SessionEvent): SessionEvent {
  if (event.type === "agent_end" && "willRetry" in event) {
    const { willRetry: _, ...documented } = event;
    return documented;
  }
  return event;
}
