import {
  type Dialect,
  type DialectFrame,
  type ExtensionUiRequest,
  encodeLine,
  type ResponseFrame,
  type SessionEvent,
  type StreamForm,
} from "@tau-agent/rpc-protocol";
import { DeltaMerger } from "./delta-merger.ts";
import { EventEncoder } from "./encode-event.ts";
import { encodeResponse } from "./encode-response.ts";
import type { FrameWriter } from "./writer.ts";

/** What one client has asked for, and the way frames take to it. */
export class Connection {
  readonly writer: FrameWriter;
  readonly #encoder = new EventEncoder();
  /** How the client asked to have replies streamed. */
  #askedForm: StreamForm | undefined;
  #dialect: Dialect;
  #merger: DeltaMerger;
  #events: ReadonlySet<string> | undefined;
  /** Set by `initialize`: additive members may be sent. */
  isInitialized = false;

  constructor(writer: FrameWriter, dialect: Dialect) {
    this.writer = writer;
    this.#dialect = dialect;
    this.#merger = this.#createMerger();
    this.#adoptHabits();
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  /** Everything that is sent from now on is said in this dialect. */
  set dialect(dialect: Dialect) {
    void this.#merger.flush();
    this.#dialect = dialect;
    this.#adoptHabits();
  }

  /** Whether members are sent that clients of the documents do not expect. */
  get hasAdditions(): boolean {
    return this.isInitialized || this.#dialect.habits?.hasAdditions === true;
  }

  get streamForm(): StreamForm {
    return this.#encoder.form;
  }

  /** Chooses how replies are streamed from now on. */
  setStreamForm(form: StreamForm): void {
    this.#askedForm = form;
    this.#adoptHabits();
  }

  /** Sends only events of these types, as the dialect names them; undefined sends all. */
  setEventFilter(types: readonly string[] | undefined): void {
    void this.#merger.flush();
    this.#events = types === undefined ? undefined : new Set(types);
  }

  /** Sends an event; a promise when the client is behind and the sender should wait. */
  send(event: SessionEvent): void | Promise<void> {
    // The end of the tool brings the whole output, so progress may be left out for a slow reader.
    if (event.type === "tool_execution_update" && !this.writer.isDrained) return;
    return this.#merger.push(event);
  }

  /** Answers a command. */
  respond(response: ResponseFrame): void {
    for (const frame of this.#dialect.encode(response)) {
      void this.writer.write(encodeResponse(this.isInitialized ? frame : withoutCode(frame)));
    }
  }

  /** Passes on what an extension asks; false when the dialect has no word for it. */
  ask(request: ExtensionUiRequest): boolean {
    const frames = this.#dialect.encode(request);
    for (const frame of frames) void this.writer.write(encodeLine(frame));
    return frames.length > 0;
  }

  #adoptHabits(): void {
    const { streamForm = "full", repeatsUsage = false } = this.#dialect.habits ?? {};
    void this.#merger.flush();
    this.#encoder.form = this.#askedForm ?? streamForm;
    this.#encoder.repeatsUsage = repeatsUsage;
    this.#merger = this.#createMerger();
  }

  #createMerger(): DeltaMerger {
    const write = (event: SessionEvent) => this.#write(event);
    return new DeltaMerger({ write, reader: this.writer });
  }

  #write(event: SessionEvent): void | Promise<void> {
    const frames = this.#dialect.encode(
      this.hasAdditions ? event : withoutAdditions(event, this.#dialect.habits),
    );
    const sent = frames.filter(({ type }) => this.#events?.has(type) ?? true);
    if (sent.length === 0) return;
    return this.writer.write(sent.map((frame) => this.#encoder.encode(frame)).join(""));
  }
}

/** Before `initialize` a documented frame has exactly its documented keys. */
function withoutAdditions(event: SessionEvent, habits: Dialect["habits"]): SessionEvent {
  if (event.type === "agent_end" && "willRetry" in event) {
    const { willRetry: _, ...documented } = event;
    return documented;
  }
  if (event.type === "auto_compaction_end") {
    const { reason: _, ...documented } = event;
    return documented;
  }
  if (event.type !== "message_update" || habits?.hasBareToolCallStart !== true) return event;
  if (event.assistantMessageEvent.type === "toolcall_start") {
    const { id: _id, toolName: _name, ...documented } = event.assistantMessageEvent;
    return { ...event, assistantMessageEvent: documented } as SessionEvent;
  }
  return event;
}

function withoutCode(frame: DialectFrame): DialectFrame {
  if (!("code" in frame)) return frame;
  const { code: _, ...documented } = frame;
  return documented;
}
