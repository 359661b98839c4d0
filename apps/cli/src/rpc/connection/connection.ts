import {
  type Dialect,
  type DialectFrame,
  type EventOrder,
  type ExtensionUiRequest,
  encodeLine,
  type HostingFrame,
  type OpenUrlNotice,
  type RequestFrame,
  type ResponseFrame,
  type SessionEvent,
  type StreamForm,
} from "@tau-agent/rpc-protocol";
import { DeltaMerger, MERGE_INTERVAL_MS } from "./delta-merger.ts";
import { EventEncoder } from "./encode-event.ts";
import { encodeResponse } from "./encode-response.ts";
import type { LineWriter } from "./line-writer.ts";

/** The member that names the session in every frame of a host with many; empty in answers about the host itself. */
export interface SessionTag {
  readonly sessionId?: string;
}

/** One client's settings, and the path that frames take to it. */
export class Connection {
  readonly writer: LineWriter;
  readonly #tag: SessionTag | undefined;
  readonly #encoder = new EventEncoder();
  readonly #nextOrder: () => EventOrder;
  #askedForm: StreamForm | undefined;
  #dialect: Dialect;
  #merger: DeltaMerger;
  #mergeMs = MERGE_INTERVAL_MS;
  #events: ReadonlySet<string> | undefined;
  /** Set by `initialize`: the client accepts members that no document shows. */
  isInitialized = false;

  /** Whether the session is idle, according to its events. */
  isSettled = true;

  /** Whether frames show their order before `initialize`, for clients that attach again. */
  showsOrder: boolean;

  /**
   * `nextOrder` returns the order of a frame that is not an event of the session. With a `tag`, every frame
   * names the session.
   */
  constructor(writer: LineWriter, dialect: Dialect, nextOrder: () => EventOrder, tag?: SessionTag) {
    this.writer = writer;
    this.#nextOrder = nextOrder;
    this.#tag = tag;
    this.showsOrder = tag !== undefined;
    this.#dialect = dialect;
    this.#merger = this.#createMerger();
    this.#adoptForm();
  }

  /** The dialect and the settings, which are equal for connections that speak alike. */
  get settings(): string {
    const { isInitialized } = this;
    const events = this.#events && [...this.#events];
    return JSON.stringify([
      this.#dialect.name,
      isInitialized,
      this.#askedForm,
      this.#mergeMs,
      events,
    ]);
  }

  /** Uses the same dialect and settings as another connection of the same client. */
  speakAs(other: Connection): void {
    void this.#merger.flush();
    this.isInitialized = other.isInitialized;
    this.#askedForm = other.#askedForm;
    this.#mergeMs = other.#mergeMs;
    this.#events = other.#events;
    this.#dialect = other.#dialect;
    this.#adoptForm();
  }

  flush(): void {
    void this.#merger.flush();
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  set dialect(dialect: Dialect) {
    void this.#merger.flush();
    this.#dialect = dialect;
    this.#adoptForm();
  }

  get streamForm(): StreamForm {
    return this.#encoder.form;
  }

  /** From now on, holds back deltas of one block for this long to send them as one. */
  setMergeInterval(intervalMs: number): void {
    this.#mergeMs = intervalMs;
    this.#adoptForm();
  }

  setStreamForm(form: StreamForm): void {
    this.#askedForm = form;
    this.#adoptForm();
  }

  /** Sends only events of these types, as the dialect names them; undefined sends all. */
  setEventFilter(types: readonly string[] | undefined): void {
    void this.#merger.flush();
    this.#events = types === undefined ? undefined : new Set(types);
  }

  /** Sends the greeting for which a client of the dialect waits before it sends anything. */
  greet(): void {
    const { greeting } = this.#dialect;
    if (greeting !== undefined) void this.writer.write(encodeLine(greeting));
  }

  /** Sends an event; returns a promise if the client is behind and the sender should wait. */
  send(event: SessionEvent, order: EventOrder): void | Promise<void> {
    // The end of the tool contains the whole output, so a slow reader can skip progress.
    if (isToolProgress(event) && !this.writer.isDrained) return;
    return this.#merger.push(event, order);
  }

  /** Answers a command; `addsData` if the command's document shows no `data` in the answer. */
  respond(response: ResponseFrame, addsData = false): void {
    const { isInitialized, isSettled } = this;
    const context = { isInitialized, isSettled, addsData };
    for (const frame of this.#dialect.encode(response, context)) {
      void this.writer.write(encodeResponse(this.#tagged(frame, response)), true);
    }
  }

  /** Sends a frame about the session itself, which is the same in every dialect. */
  sendHosting(frame: HostingFrame): void {
    void this.#merger.flush();
    void this.writer.write(encodeLine(frame));
  }

  /** Passes on the request of an extension; returns false if the dialect cannot express it. */
  ask(request: ExtensionUiRequest | OpenUrlNotice, place?: EventOrder): boolean {
    void this.#merger.flush();
    const frames = this.#dialect.encode(request, this);
    const order = place ?? this.#nextOrder();
    for (const frame of frames) void this.writer.write(encodeLine(this.#ordered(frame, order)));
    return frames.length > 0;
  }

  /** Sends a frame about a host request, which no filter removes and which is the same in every dialect. */
  sendRequest(frame: RequestFrame, order: EventOrder = this.#nextOrder()): void {
    void this.#merger.flush();
    void this.writer.write(encodeLine(this.#ordered(frame, order)));
  }

  #adoptForm(): void {
    const { streamForm = "full", repeatsUsage = false } = this.#dialect;
    void this.#merger.flush();
    this.#encoder.form = this.#askedForm ?? streamForm;
    this.#encoder.repeatsUsage = repeatsUsage;
    this.#merger = this.#createMerger();
  }

  #createMerger(): DeltaMerger {
    const write = (...event: Parameters<Connection["send"]>) => this.#write(...event);
    return new DeltaMerger({ write, reader: this.writer }, this.#mergeMs);
  }

  #write(event: SessionEvent, order: EventOrder): void | Promise<void> {
    if (event.type === "agent_start") this.isSettled = false;
    else if (event.type === "agent_settled") this.isSettled = true;
    let lines = "";
    for (const frame of this.#dialect.encode(event, this)) {
      if (this.#events?.has(frame.type) ?? true) {
        lines += this.#encoder.encode(frame, this.#placeOf(frame, order));
      }
    }
    if (lines !== "") return this.writer.write(lines);
  }

  #ordered(frame: DialectFrame, order: EventOrder): DialectFrame {
    return { ...frame, ...this.#placeOf(frame, order) };
  }

  /** Before `initialize`, a frame has only the documented members. */
  #placeOf(frame: DialectFrame, { seq, promptId }: EventOrder): object | undefined {
    if (!this.isInitialized && !this.showsOrder) return undefined;
    // A request names its own prompt.
    const cause = promptId === undefined || "promptId" in frame ? undefined : { promptId };
    return { ...this.#tag, ...cause, seq };
  }

  /** In a host with many sessions, an answer names its session, and an error has its code. */
  #tagged(frame: DialectFrame, { code }: ResponseFrame): DialectFrame {
    if (this.#tag === undefined) return frame;
    const tagged = { ...frame, ...(code === undefined ? {} : { code }), ...this.#tag };
    return tagged;
  }
}

function isToolProgress(event: SessionEvent): boolean {
  const { type } = event.type === "subagent_event" ? event.event : event;
  return type === "tool_execution_update";
}
