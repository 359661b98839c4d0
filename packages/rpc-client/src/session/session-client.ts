import {
  type ClientEvent,
  type CommandName,
  commands,
  type Params,
  type Result,
  type StreamForm,
} from "@tau-agent/rpc-protocol";
import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import {
  checkValue,
  isJsonObject,
  isTypedSchema,
  jsonSchemaOf,
  type TypedSchema,
  type ValueOf,
} from "@tau-agent/rpc-protocol/plain";
import { fromCaller } from "../base/call-site.ts";
import type { ConnectionClosedError } from "../base/errors.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import { type DeltaEvent, stepOnly } from "../events/delta-event.ts";
import type { WaitOptions } from "../events/event-hub.ts";
import { type EventIterator, EventQueue } from "../events/event-queue.ts";
import { type DefinedTool, registerTools } from "../events/host-tools.ts";
import type { UriDefinition, UriScheme } from "../events/host-uris.ts";
import { PromptRun } from "../prompt/prompt-run.ts";
import { type SettleSource, SettleWatch } from "../prompt/settle.ts";
import { createCommandClient, decodeResult } from "./command-methods.ts";
import type { HostLink } from "./host-link.ts";
import { DEFAULT_REQUEST_TIMEOUT_MS } from "./rpc-client-options.ts";

const MAX_BUFFERED_EVENTS = 100_000;
/** The time limit for a run to end after it was aborted. */
const STOP_MS = 30_000;
/** The time limit for the answer to a prompt that is being stopped. */
const TAKE_MS = 250;

/** What an answer has to fit: a JSON Schema, or a type of a schema library such as zod 4. */
export type OutputSchema = TypedSchema<unknown> | Readonly<Record<string, unknown>>;

/** How {@link SessionClient.promptAndWait} sends its prompt, and how long it waits. */
export type PromptAndWaitOptions<Schema = OutputSchema> = Omit<
  Params<"prompt">,
  "message" | "outputSchema"
> & {
  /** What the answer has to fit; the parsed answer becomes the `output` of the result. */
  readonly outputSchema?: Schema | undefined;
  /** For the whole run; none by default. The run continues after the time limit. */
  readonly timeoutMs?: number;
  /** Aborts the run, and rejects with the signal's reason once the run has ended. */
  readonly signal?: AbortSignal;
};

/** How long {@link SessionClient.collectEvents} collects. */
export interface CollectEventsOptions {
  /** Ends the collection with the event for which it returns true; by default, the end of work. */
  readonly until?: (event: ClientEvent) => boolean;
  /** None by default. */
  readonly timeoutMs?: number;
  /** Rejects with its reason. */
  readonly signal?: AbortSignal;
}

interface ListenerOptions {
  readonly stream?: StreamForm;
  readonly holdsReading?: boolean;
}

const CommandClient = /* @__PURE__ */ createCommandClient();

/**
 * The operations on a session of a host, whatever the connection: one method per command, events to listen to, and
 * waiting for the end of work. Requests reject with RpcError, RequestTimeoutError or ConnectionClosedError.
 */
export class SessionClient extends CommandClient {
  readonly #link: HostLink;
  readonly #requestTimeoutMs: number;

  /** @param requestTimeoutMs - for commands that are answered at once; 0 for none. */
  constructor(link: HostLink, requestTimeoutMs: number = DEFAULT_REQUEST_TIMEOUT_MS) {
    super();
    this.#link = link;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** The host's description of itself; undefined before it has arrived, and if the host does not know `initialize`. */
  get host(): Result<"initialize"> | undefined {
    return this.#link.host;
  }

  /** Sends any command; the methods named after commands are shorthands for this. */
  async request<N extends CommandName>(
    name: N,
    params: Params<N>,
    options: RequestOptions = {},
  ): Promise<Result<N>> {
    return fromCaller(this.request, () => this.#request(name, params, options));
  }

  async #request<N extends CommandName>(
    name: N,
    params: Params<N>,
    options: RequestOptions,
  ): Promise<Result<N>> {
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs(name);
    const connection = this.#link.connection();
    const isFilter =
      name === "set_event_filter" ||
      (name === "initialize" && Reflect.get(params, "events") !== undefined);
    const change = isFilter
      ? this.#link.filter.change(params as Params<"set_event_filter">)
      : undefined;
    const sent: Params<N> = { ...plainParams(params), ...change?.params };
    try {
      const { answer } = connection.send(name, sent, { ...options, timeoutMs });
      return decodeResult(name, await answer);
    } catch (error) {
      change?.takeBack();
      throw error;
    }
  }

  /**
   * Calls `listener` with every event. A newer host may send types that are not listed. Returns the function
   * that unsubscribes it.
   */
  onEvent(listener: (event: ClientEvent) => void): () => void;
  /**
   * As above, but each `message_update` contains only its step, without the accumulated reply (`message` and
   * `partial`): forwarding events, for example as server-sent events, is linear in the reply's length.
   */
  onEvent(listener: (event: DeltaEvent) => void, options: { readonly stream: "delta" }): () => void;
  /**
   * As above, but if the listener returns a promise, reading from a host that this client has started stops
   * until the promise settles: a slow receiver slows the run down instead of filling memory. The promise must
   * not wait for an answer of the host.
   */
  onEvent(
    listener: (event: ClientEvent) => void | Promise<void>,
    options: { readonly holdsReading: true },
  ): () => void;
  onEvent(
    listener: (event: never) => void | Promise<void>,
    { stream = "full", holdsReading = false }: ListenerOptions = {},
  ): () => void {
    const hear = listener as (event: ClientEvent | DeltaEvent) => void | Promise<void>;
    return this.#link.hub.subscribe({
      onEvent: (event) => {
        if (!this.#link.filter.shows(event)) return;
        const hold = hear(stream === "delta" ? stepOnly(event) : event);
        if (holdsReading) return hold;
      },
    });
  }

  /**
   * All events from now on. Ends when the client is stopped; throws when the host dies or when more than
   * `maxBuffered` events are unread. Before `start`, it waits for the first event. After the host has ended,
   * it yields nothing until the client is started again.
   */
  events(options: { maxBuffered?: number } = {}): EventIterator<ClientEvent> {
    const maxBuffered = options.maxBuffered ?? MAX_BUFFERED_EVENTS;
    const queue = new EventQueue<ClientEvent>(maxBuffered, () => unsubscribe());
    const ended = this.#link.ended;
    if (ended !== undefined) queue.close(this.#link.isStopping ? undefined : ended);
    const unsubscribe = this.#link.hub.subscribe({
      onEvent: (event) => {
        if (this.#link.filter.shows(event)) queue.push(event);
      },
      onClose: (error, wasAsked) => {
        queue.close(wasAsked ? undefined : error);
        unsubscribe();
      },
    });
    return queue;
  }

  /**
   * Calls `listener` once when the connection has closed for good: with the error that rejects everything
   * pending, or with undefined if this client closed it. Returns the function that unsubscribes it.
   */
  onClose(listener: (error: ConnectionClosedError | undefined) => void): () => void {
    const { ended, isStopping } = this.#link;
    let isWanted = true;
    const tell = (error: ConnectionClosedError, wasAsked: boolean): void => {
      leave();
      if (isWanted) listener(wasAsked ? undefined : error);
    };
    const leave = this.#link.hub.subscribe({ onEvent: () => {}, onClose: tell });
    if (ended !== undefined) queueMicrotask(() => tell(ended, isStopping));
    return () => {
      isWanted = false;
      leave();
    };
  }

  /**
   * Sends a prompt and resolves when all of its work is done. With a zod type as `outputSchema`, `output` has its
   * type, with defaults and transformations applied.
   *
   * @throws {RpcError} if the prompt is refused, and with code `prompt_failed` if its run fails; `promptCode` says why
   */
  async promptAndWait<Schema extends OutputSchema>(
    message: string,
    options: PromptAndWaitOptions<Schema> = {},
  ): Promise<PromptResult<ValueOf<Schema>>> {
    const { timeoutMs = 0, signal, ...params } = options;
    const result = await fromCaller(this.promptAndWait, () =>
      this.#promptAndWait({ ...params, message }, { timeoutMs, signal }),
    );
    const typed = await withTypedOutput(result, params.outputSchema);
    return typed as PromptResult<ValueOf<Schema>>;
  }

  /** Resolves when nothing is running, queued, retrying or compacting; immediately if that is the case now. */
  async waitForIdle(timeoutMs = 0): Promise<void> {
    await fromCaller(this.waitForIdle, async () => {
      const connection = this.#link.connection();
      await this.#link.hub.wait<void>({ what: "the end of all work", timeoutMs }, (settle) => {
        const watch = new SettleWatch(this.#settleSource(), settle);
        // A host also reports idle while it is still processing a prompt command.
        void connection.answered((name) => commands[name].startsRun).then(() => watch.check());
        return (event) => watch.onEvent(event);
      });
    });
  }

  /**
   * Collects all events from now on, up to and including the first for which `until` holds (by default, the
   * end of work).
   */
  async collectEvents(options: CollectEventsOptions = {}): Promise<ClientEvent[]> {
    return fromCaller(this.collectEvents, () => this.#collectEvents(options));
  }

  async #collectEvents(options: CollectEventsOptions): Promise<ClientEvent[]> {
    const ended = this.#link.ended;
    if (ended !== undefined) throw ended;
    const last = this.#settleSource().announcesSettled ? "agent_settled" : "agent_end";
    const until = options.until ?? ((event) => event.type === last);
    const events: ClientEvent[] = [];
    const what = "the last event to collect";
    const { timeoutMs = 0, signal } = options;
    signal?.throwIfAborted();
    return this.#link.hub.wait({ what, timeoutMs, signal }, (settle) => (event) => {
      if (this.#link.filter.shows(event)) events.push(event);
      if (until(event)) settle.resolve(events);
    });
  }

  /**
   * Registers the tools that run in this process, replacing all earlier ones; they take effect with the
   * model's next request. Resolves to their names.
   */
  setHostTools(tools: readonly DefinedTool[]): Promise<readonly string[]> {
    return registerTools(this.#link.channel?.tools, tools, (definitions) =>
      this.request("set_host_tools", { tools: definitions }),
    );
  }

  /**
   * Registers the URI schemes that this process serves, replacing all earlier ones: `read` and `write` of the
   * model and its subagents accept such a URI as a path. Resolves to the schemes.
   */
  async setHostUriSchemes(schemes: readonly UriScheme[]): Promise<readonly string[]> {
    const send = (definitions: UriDefinition[]) =>
      this.request("set_host_uri_schemes", { schemes: definitions });
    const uris = this.#link.channel?.uris;
    return uris === undefined ? (await send([])).schemes : uris.register(schemes, send);
  }

  async #promptAndWait(
    params: Params<"prompt">,
    { timeoutMs, signal }: Pick<WaitOptions, "timeoutMs" | "signal">,
  ): Promise<PromptResult> {
    const connection = this.#link.connection();
    signal?.throwIfAborted();
    const sent = plainParams(params);
    const what = "the end of the prompt";
    let answer: Promise<unknown> = Promise.resolve();
    const end = this.#link.hub.wait<PromptResult>({ what, timeoutMs }, (settle) => {
      const run = new PromptRun(this.#settleSource(), settle);
      const request = connection.send("prompt", sent, { timeoutMs: this.#timeoutMs("prompt") });
      run.requestId = request.id;
      run.promptId = params.promptId;
      answer = request.answer;
      answer.then((data) => {
        if (isJsonObject(data) && data.disposition === "duplicate") void run.onDuplicate();
      }, settle.reject);
      return (event) => run.onEvent(event);
    });
    return endedBy(signal, end, () => stopPrompt(connection, answer));
  }

  #timeoutMs(name: CommandName): number {
    return commands[name].takesLong ? 0 : this.#requestTimeoutMs;
  }

  #settleSource(): SettleSource {
    return {
      announcesSettled: this.host !== undefined,
      isIdle: async () => {
        const state = await this.request("get_state", {});
        if (state.isStreaming || state.isCompacting) return false;
        // If nothing runs, queued messages wait for the next prompt; in older hosts, they may just be between
        // two runs.
        return this.host !== undefined || !state.pendingMessageCount;
      },
    };
  }
}

/** Withdraws a prompt that waits for the end of another run, or stops the current run. */
async function stopPrompt(connection: Connection, answer: Promise<unknown>): Promise<void> {
  // An extension may delay the prompt; an abort cancels it.
  const taken = await Promise.race([
    answer,
    new Promise((resolve) => setTimeout(resolve, TAKE_MS)),
  ]);
  const { itemId } = isJsonObject(taken) ? taken : {};
  if (typeof itemId === "string") {
    try {
      await connection.send("cancel_queued", { itemId }).answer;
      return;
    } catch {
      // The prompt's run has begun.
    }
  }
  await connection.send("abort", {}).answer;
}

/**
 * Waits for the end of work that a signal may stop: it then rejects with the signal's reason, but only once
 * the work has ended, so that the next prompt finds the session idle.
 */
async function endedBy<Value>(
  signal: AbortSignal | undefined,
  end: Promise<Value>,
  stop: () => Promise<void>,
): Promise<Value> {
  if (signal === undefined) return end;
  const unstoppable = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => unstoppable.reject(signal.reason), STOP_MS);
    // If the connection is closed, there is nothing left to stop, and the wait ends too.
    stop().catch(() => {});
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([end, unstoppable.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    // biome-ignore lint/correctness/noUnsafeFinally: the abort takes precedence over any other outcome
    if (signal.aborted) throw signal.reason;
  }
}

/** A schema of a library is sent as JSON Schema. */
function plainParams<P extends object>(params: P): P {
  const { outputSchema } = params as { outputSchema?: unknown };
  return isTypedSchema(outputSchema)
    ? { ...params, outputSchema: jsonSchemaOf(outputSchema) }
    : params;
}

/** Only the client can check what a library's schema requires beyond its JSON Schema. */
async function withTypedOutput(result: PromptResult, schema: unknown): Promise<PromptResult> {
  if (!("output" in result)) return result;
  const { output, ...rest } = result;
  const checked = await checkValue(schema, output);
  if ("problems" in checked) return { ...rest, outputStatus: "invalid" };
  return { ...rest, output: checked.value };
}
