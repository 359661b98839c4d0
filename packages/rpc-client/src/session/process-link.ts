import type { ExtensionUiRequest, HostResponse, Result } from "@tau-agent/rpc-protocol";
import { ConnectionClosedError, type HostExit, RpcError } from "../base/errors.ts";
import { Connection } from "../connection/connection.ts";
import { EventFilter } from "../events/event-filter.ts";
import { EventHub } from "../events/event-hub.ts";
import { answerUiRequest, cancelled } from "../events/extension-ui.ts";
import { answeredMethods, HostRequestHandler } from "../events/host-requests.ts";
import { HostToolRunner } from "../events/host-tools.ts";
import { describeExit } from "../host/describe-exit.ts";
import { hostCommand, hostEnvironment } from "../host/host-command.ts";
import { HostProcess, type HostProcessOptions, type StopOptions } from "../host/host-process.ts";
import { decodeResult } from "./command-methods.ts";
import type { HostLink } from "./host-link.ts";
import { DEFAULT_REQUEST_TIMEOUT_MS, type RpcClientOptions } from "./rpc-client-options.ts";

/** A host as a child process, and the connection to it. */
export class ProcessLink implements HostLink {
  readonly hub = new EventHub();
  readonly filter = new EventFilter();
  readonly #options: RpcClientOptions;
  #process: HostProcess | undefined;
  #connection: Connection | undefined;
  #tools: HostToolRunner | undefined;
  #host: Result<"initialize"> | undefined;
  #starting: Promise<void> | undefined;
  #isStopping = false;
  /** How often the client was told to stop; a start that sees it grow is not wanted any more. */
  #stops = 0;

  constructor(options: RpcClientOptions) {
    this.#options = options;
  }

  get tools(): HostToolRunner | undefined {
    return this.#tools;
  }

  get host(): Result<"initialize"> | undefined {
    return this.#host;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** The host, while and after it runs. */
  get process(): Pick<HostProcess, "pid" | "exitCode" | "stderr"> | undefined {
    return this.#process;
  }

  get ended(): ConnectionClosedError | undefined {
    if (!this.#process || this.#connection || this.#starting) return undefined;
    const { exitCode, stderr } = this.#process;
    return new ConnectionClosedError("The host has ended", { exitCode, stderr });
  }

  connection(): Connection {
    if (this.#connection) return this.#connection;
    throw this.ended ?? new ConnectionClosedError("The client has not been started");
  }

  /** Starts the host and agrees with it on the stream form. */
  start(): Promise<void> {
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#start();
    this.#starting = starting;
    starting.catch(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return starting;
  }

  /** Ends the host. */
  async stop(options?: StopOptions): Promise<HostExit | undefined> {
    this.#isStopping = true;
    this.#stops += 1;
    this.#starting = undefined;
    return this.#process?.stop(options);
  }

  async #start(): Promise<void> {
    const stops = this.#stops;
    const stopped = (): ConnectionClosedError =>
      new ConnectionClosedError("The client was stopped");
    if (this.#connection !== undefined) await this.#process?.ended;
    if (stops !== this.#stops) throw stopped();
    this.#isStopping = false;
    this.#host = undefined;
    this.filter.reset();
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
      onEvent: (event) => {
        const hold = this.hub.emit(event);
        if (hold !== undefined) child.pauseUntil(hold);
      },
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
    this.hub.close(error, this.#isStopping);
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
        ...((approve ?? raiseBudget) && {
          capabilities: { hostRequests: [...answeredMethods] },
        }),
      } as const;
      const { requestTimeoutMs: timeoutMs = DEFAULT_REQUEST_TIMEOUT_MS } = this.#options;
      const { answer } = this.connection().send("initialize", asked, { timeoutMs });
      return decodeResult("initialize", await answer);
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
}
