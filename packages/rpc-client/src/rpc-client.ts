import {
  type ClientEvent,
  type CommandName,
  commands,
  type ExtensionUiRequest,
  type HostResponse,
  type Params,
  type Result,
  type StreamForm,
} from "@tau-agent/rpc-protocol";
import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import { ConnectionClosedError, type HostExit, RpcError } from "./base/errors.ts";
import { Connection, type RequestOptions } from "./connection/connection.ts";
import { isRecord } from "./connection/host-frame.ts";
import type { Deciders } from "./events/decisions.ts";
import { type DeltaEvent, stepOnly } from "./events/delta-event.ts";
import { EventFilter } from "./events/event-filter.ts";
import { EventHub } from "./events/event-hub.ts";
import { type EventIterator, EventQueue } from "./events/event-queue.ts";
import { answerUiRequest, cancelled, type ExtensionUiHandlers } from "./events/extension-ui.ts";
import { answeredMethods, HostRequestHandler } from "./events/host-requests.ts";
import { type DefinedTool, HostToolRunner, registerTools } from "./events/host-tools.ts";
import { describeExit } from "./host/describe-exit.ts";
import { type HostCommandOptions, hostCommand, hostEnvironment } from "./host/host-command.ts";
import { HostProcess, type HostProcessOptions, type StopOptions } from "./host/host-process.ts";
import { createCommandClient, decodeResult } from "./methods.ts";
import { PromptRun } from "./prompt/prompt-run.ts";
import { type SettleSource, SettleWatch } from "./prompt/settle.ts";

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_BUFFERED_EVENTS = 100_000;

/** How a client starts its host and talks to it. */
export interface RpcClientOptions extends HostCommandOptions, Deciders {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * What replies cost on the wire. `delta` (default) is linear in their length; listeners see the
   * same events either way.
   */
  readonly stream?: StreamForm;
  /**
   * How long the host may let deltas wait to leave as one, in ms: 0 to 100, 25 by default. With 0,
   * each is there as it comes.
   */
  readonly mergeMs?: number;
  /**
   * For commands that are answered at once: all but those that wait for a model, a shell, the end of
   * a run, or a person whom an extension asks. 60 s by default, 0 for none.
   */
  readonly requestTimeoutMs?: number;
  /** The longest line accepted from the host; 64 MiB by default. */
  readonly maxFrameBytes?: number;
  /** Gets the host's stderr as it comes. */
  readonly onStderr?: (text: string) => void;
  /** Shows what extensions ask for; a dialog without a handler is cancelled. */
  readonly ui?: ExtensionUiHandlers;
  /** Sent to the host. */
  readonly clientInfo?: { readonly name: string; readonly version?: string };
}

/** How {@link RpcClient.promptAndWait} sends its prompt, and how long it waits. */
export type PromptAndWaitOptions = Omit<Params<"prompt">, "message"> & {
  /** For the whole run; none by default. The run goes on when it is over. */
  readonly timeoutMs?: number;
  /** Aborts the run, and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
};

/** How long {@link RpcClient.collectEvents} collects. */
export interface CollectEventsOptions {
  /** Holds for the last event to collect; default the end of work. */
  readonly until?: (event: ClientEvent) => boolean;
  /** None by default. */
  readonly timeoutMs?: number;
  /** Rejects with its reason. */
  readonly signal?: AbortSignal;
}

const CommandClient = /* @__PURE__ */ createCommandClient();

/**
 * A host as a child process: one method per command, events to listen to, and an orderly end.
 * Requests reject with RpcError, RequestTimeoutError or ConnectionClosedError.
 */
export class RpcClient extends CommandClient implements AsyncDisposable {
  readonly #options: RpcClientOptions;
  readonly #hub = new EventHub();
  readonly #filter = new EventFilter();
  #process: HostProcess | undefined;
  #connection: Connection | undefined;
  #tools: HostToolRunner | undefined;
  #host: Result<"initialize"> | undefined;
  #starting: Promise<this> | undefined;
  #isStopping = false;
  /** How often the client was told to stop; a start that sees it grow is not wanted any more. */
  #stops = 0;

  constructor(options: RpcClientOptions = {}) {
    super();
    this.#options = options;
  }

  /** What the host said of itself; undefined before `start` and when it doesn't know `initialize`. */
  get host(): Result<"initialize"> | undefined {
    return this.#host;
  }

  /** The host's process id, while and after it runs. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The host's exit code, once it has one. */
  get exitCode(): number | undefined {
    return this.#process?.exitCode;
  }

  /** The end of what the host wrote to stderr (64 Ki characters). */
  getStderr(): string {
    return this.#process?.stderr ?? "";
  }

  /**
   * Starts the host and agrees with it on the stream form. A client whose host has ended may be
   * started again; one that is being stopped is gone first.
   * @throws {ConnectionClosedError} with the host's last words when it ends before it answers, when it
   * cannot be started, and when the client is stopped meanwhile.
   */
  start(): Promise<this> {
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#start();
    this.#starting = starting;
    starting.catch(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return starting;
  }

  /** Ends the host: closes its input, then SIGTERM, then SIGKILL. Resolves when it is gone. */
  async stop(options?: StopOptions): Promise<HostExit | undefined> {
    this.#isStopping = true;
    this.#stops += 1;
    this.#starting = undefined;
    return this.#process?.stop(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Sends any command; the methods named after commands are shorthands for this. */
  async request<N extends CommandName>(
    name: N,
    params: Params<N>,
    options: RequestOptions = {},
  ): Promise<Result<N>> {
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs(name);
    const connection = this.#connected();
    const isFilter =
      name === "set_event_filter" ||
      (name === "initialize" && Reflect.get(params, "events") !== undefined);
    const change = isFilter ? this.#filter.change(params as Params<"set_event_filter">) : undefined;
    const sent: Params<N> = { ...params, ...change?.params };
    try {
      const { answer } = connection.send(name, sent, { ...options, timeoutMs });
      return decodeResult(name, await answer);
    } catch (error) {
      change?.takeBack();
      throw error;
    }
  }

  /**
   * Calls `listener` with every event. One of a newer host may have a type that isn't listed.
   * Returns the function that ends it.
   */
  onEvent(listener: (event: ClientEvent) => void): () => void;
  /**
   * As above, but each `message_update` has only its step, without the reply so far (`message` and
   * `partial`): handing events on, for example as server-sent events, is linear in the reply's length.
   */
  onEvent(listener: (event: DeltaEvent) => void, options: { readonly stream: "delta" }): () => void;
  onEvent(
    listener: (event: never) => void,
    { stream = "full" }: { readonly stream?: StreamForm } = {},
  ): () => void {
    const hear = listener as (event: ClientEvent | DeltaEvent) => void;
    return this.#hub.subscribe({
      onEvent: (event) => {
        if (this.#filter.shows(event)) hear(stream === "delta" ? stepOnly(event) : event);
      },
    });
  }

  /**
   * All events from now on. Ends when the client is stopped, throws when the host dies and when
   * more than `maxBuffered` events wait to be read. Before `start` it waits for the first event. After
   * the host has ended, it yields nothing until the client is started again.
   */
  events(options: { maxBuffered?: number } = {}): EventIterator<ClientEvent> {
    const maxBuffered = options.maxBuffered ?? MAX_BUFFERED_EVENTS;
    const queue = new EventQueue<ClientEvent>(maxBuffered, () => unsubscribe());
    const ended = this.#ended();
    if (ended !== undefined) queue.close(this.#isStopping ? undefined : ended);
    const unsubscribe = this.#hub.subscribe({
      onEvent: (event) => {
        if (this.#filter.shows(event)) queue.push(event);
      },
      onClose: (error, wasAsked) => {
        queue.close(wasAsked ? undefined : error);
        unsubscribe();
      },
    });
    return queue;
  }

  /**
   * Sends a prompt and resolves when all of its work is done.
   * @throws {RpcError} when it is refused, and with code `prompt_failed` when its run fails.
   */
  async promptAndWait(message: string, options: PromptAndWaitOptions = {}): Promise<PromptResult> {
    const { timeoutMs = 0, signal, ...params } = options;
    const connection = this.#connected();
    signal?.throwIfAborted();
    const what = "the end of the prompt";
    const end = this.#hub.wait<PromptResult>({ what, timeoutMs, signal }, (settle) => {
      const run = new PromptRun(this.#settleSource(), settle);
      const request = connection.send(
        "prompt",
        { ...params, message },
        { timeoutMs: this.#timeoutMs("prompt") },
      );
      run.requestId = request.id;
      run.promptId = params.promptId;
      request.answer.then((data) => {
        if (isRecord(data) && data.disposition === "duplicate") void run.onDuplicate();
      }, settle.reject);
      return (event) => run.onEvent(event);
    });
    return end.catch((error: unknown) => {
      // With the connection gone there is nothing left to abort.
      if (signal?.aborted) connection.send("abort", {}).answer.catch(() => {});
      throw error;
    });
  }

  /** Resolves when nothing is running, queued, retrying or compacting; at once if that is so now. */
  async waitForIdle(timeoutMs = 0): Promise<void> {
    const connection = this.#connected();
    await this.#hub.wait<void>({ what: "the end of all work", timeoutMs }, (settle) => {
      const watch = new SettleWatch(this.#settleSource(), settle);
      // A host is idle, too, while it still looks at a prompt.
      void connection.answered((name) => commands[name].beginsWork).then(() => watch.check());
      return (event) => watch.onEvent(event);
    });
  }

  /** All events from now on, up to and with the first for which `until` holds (the end of work). */
  async collectEvents(options: CollectEventsOptions = {}): Promise<ClientEvent[]> {
    const ended = this.#ended();
    if (ended !== undefined) throw ended;
    const last = this.#settleSource().announcesSettled ? "agent_settled" : "agent_end";
    const until = options.until ?? ((event) => event.type === last);
    const events: ClientEvent[] = [];
    const what = "the last event to collect";
    const { timeoutMs = 0, signal } = options;
    signal?.throwIfAborted();
    return this.#hub.wait({ what, timeoutMs, signal }, (settle) => (event) => {
      if (this.#filter.shows(event)) events.push(event);
      if (until(event)) settle.resolve(events);
    });
  }

  /**
   * Registers tools that run in this process, all of them each time; they count from the model's next
   * request. Resolves to their names.
   */
  setHostTools(tools: readonly DefinedTool[]): Promise<readonly string[]> {
    return registerTools(this.#tools, tools, (definitions) =>
      this.request("set_host_tools", { tools: definitions }),
    );
  }

  async #start(): Promise<this> {
    const stops = this.#stops;
    const stopped = (): ConnectionClosedError =>
      new ConnectionClosedError("The client was stopped");
    if (this.#connection !== undefined) await this.#process?.ended;
    if (stops !== this.#stops) throw stopped();
    this.#isStopping = false;
    this.#host = undefined;
    this.#filter.reset();
    try {
      this.#spawn();
      this.#host = await this.#initialize();
      if (stops !== this.#stops) throw stopped();
      const limitBytes = this.#host?.maxFrameBytes;
      if (limitBytes && this.#connection) this.#connection.maxSentBytes = limitBytes;
    } catch (error) {
      if (stops === this.#stops) {
        this.#isStopping = true;
        await this.#process?.stop({ graceMs: 0 });
      }
      throw error;
    }
    return this;
  }

  #spawn(): void {
    const { cwd, env, maxFrameBytes, onStderr } = this.#options;
    this.#process = undefined;
    const command = hostCommand(this.#options);
    const child = this.#startProcess({
      command,
      cwd,
      env: hostEnvironment(command[0], env),
      maxFrameBytes,
      onStderr,
      onLine: (line) => connection.receive(line),
      onSkipped: (...skipped) => connection.skip(...skipped),
    });
    const requests = this.#hostRequests((response) => connection.answerHostRequest(response));
    const tools = new HostToolRunner((frame) => connection.answerHostRequest(frame));
    this.#tools = tools;
    const connection = new Connection({
      onToolCall: (call) => void tools.run(call),
      onToolCancel: (cancel) => tools.cancel(cancel),
      onHostRequest: (request) => requests?.open(request),
      onHostRequestResolved: (resolved) => requests?.close(resolved),
      onRefused: (id, message) => requests?.refuse(id, message),
      write: (line) => child.write(line),
      onEvent: (event) => this.#hub.emit(event),
      onUiRequest: (request) => void this.#showUi(connection, request),
      onNoise: (line) => child.note(`not a frame: ${line.slice(0, 500)}`),
    });
    this.#process = child;
    this.#connection = connection;
    void child.ended.then((exit) => {
      requests?.end();
      tools.end();
      this.#closed(connection, exit);
    });
  }

  /** Undefined for a client that is asked by dialogs only. */
  #hostRequests(send: (response: HostResponse) => void): HostRequestHandler | undefined {
    const { approve, raiseBudget, ui = {} } = this.#options;
    if (approve === undefined && raiseBudget === undefined) return undefined;
    return new HostRequestHandler({ approve, raiseBudget, ui, send });
  }

  #startProcess(options: HostProcessOptions): HostProcess {
    try {
      return new HostProcess(options);
    } catch (error) {
      throw new ConnectionClosedError(describeExit({ error }, options.cwd), {}, { cause: error });
    }
  }

  #closed(connection: Connection, exit: HostExit & { readonly error?: Error }): void {
    const reason = this.#isStopping
      ? "The client was stopped"
      : describeExit(exit, this.#options.cwd);
    const error = new ConnectionClosedError(reason, exit, { cause: exit.error });
    if (this.#connection === connection) {
      this.#connection = undefined;
      // Of a client that was told to stop it may be the next one.
      if (!this.#isStopping) this.#starting = undefined;
    }
    connection.close(error);
    this.#hub.close(error, this.#isStopping);
  }

  async #initialize(): Promise<Result<"initialize"> | undefined> {
    const { clientInfo, approve, raiseBudget, mergeMs, stream = "delta" } = this.#options;
    try {
      // The environment may have chosen a dialect for others; events are handed on in this one.
      const asked = {
        protocol: "pi",
        stream,
        ...(mergeMs !== undefined && { mergeMs }),
        ...(clientInfo && { clientInfo }),
        ...((approve ?? raiseBudget) && { capabilities: { hostRequests: [...answeredMethods] } }),
      } as const;
      return await this.request("initialize", asked);
    } catch (error) {
      // An older host: everything works, with replies in full form.
      if (error instanceof RpcError) return undefined;
      throw error;
    }
  }

  async #showUi(connection: Connection, request: ExtensionUiRequest): Promise<void> {
    try {
      const answer = await answerUiRequest(request, this.#options.ui ?? {});
      if (answer) connection.answerUiRequest(answer);
    } catch (error) {
      connection.answerUiRequest(cancelled(request.id));
      this.#process?.note(`the UI handler of ${request.method} failed: ${String(error)}`);
    }
  }

  #connected(): Connection {
    if (this.#connection) return this.#connection;
    throw this.#ended() ?? new ConnectionClosedError("The client has not been started");
  }

  /** Set when there was a host, there is none now, and none is being started. */
  #ended(): ConnectionClosedError | undefined {
    if (!this.#process || this.#connection || this.#starting) return undefined;
    const exit = { exitCode: this.exitCode, stderr: this.getStderr() };
    return new ConnectionClosedError("The host has ended", exit);
  }

  #timeoutMs(name: CommandName): number {
    return commands[name].takesLong ? 0 : (this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  }

  #settleSource(): SettleSource {
    return {
      announcesSettled: this.#host !== undefined,
      isIdle: async () => {
        const state = await this.request("get_state", {});
        if (state.isStreaming || state.isCompacting) return false;
        // What waits although nothing runs waits for the next prompt; others may just be between runs.
        return this.#host !== undefined || !state.pendingMessageCount;
      },
    };
  }
}
