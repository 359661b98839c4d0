import type { Result } from "@tau-agent/rpc-protocol";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { ConnectionClosedError, type HostExit, RpcError } from "../base/errors.ts";
import type { Connection } from "../connection/connection.ts";
import { EventFilter } from "../events/event-filter.ts";
import { EventHub } from "../events/event-hub.ts";
import { describeExit } from "../host/describe-exit.ts";
import { hostCommand, hostEnvironment, policiesOf } from "../host/host-command.ts";
import { HostProcess, type HostProcessOptions, type StopOptions } from "../host/host-process.ts";
import type { HostLink } from "./host-link.ts";
import { initializeHost } from "./initialize-host.ts";
import type { RpcClientOptions } from "./rpc-client-options.ts";
import { SessionChannel } from "./session-channel.ts";
import type { SessionRoutes } from "./session-routes.ts";

export class ProcessLink implements HostLink {
  readonly hub = new EventHub();
  readonly filter = new EventFilter();
  readonly #options: RpcClientOptions;
  #process: HostProcess | undefined;
  #connection: Connection | undefined;
  #channel: SessionChannel | undefined;
  #host: Result<"initialize"> | undefined;
  #routes: SessionRoutes | undefined;
  #starting: Promise<void> | undefined;
  #isStopping = false;
  /** The number of stops so far; a start that sees it change is cancelled. */
  #stops = 0;

  constructor(options: RpcClientOptions) {
    this.#options = options;
  }

  get channel(): SessionChannel | undefined {
    return this.#channel;
  }

  get host(): Result<"initialize"> | undefined {
    return this.#host;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

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

  /** The routes to sessions of a host with many; loaded with the first session. */
  async routes(): Promise<SessionRoutes> {
    const { SessionRoutes } = await import("./session-routes.ts");
    const link = this;
    this.#routes ??= new SessionRoutes({
      handlers: this.#options,
      get info() {
        return link.#host;
      },
      get isStopping() {
        return link.#isStopping;
      },
      write: (line) => this.#process?.write(line),
      note: (text) => this.#process?.note(text),
    });
    return this.#routes;
  }

  start(): Promise<void> {
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#start();
    this.#starting = starting;
    starting.catch(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return starting;
  }

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
      await this.#confirmPolicy();
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
      onLine: (line) => this.#receive(connection, line),
      onSkipped: (...skipped) => connection.skip(...skipped),
    });
    const channel = new SessionChannel({
      write: (line) => child.write(line),
      hub: this.hub,
      handlers: this.#options,
      note: (text) => child.note(text),
      hold: (until) => child.pauseUntil(until),
    });
    const { connection } = channel;
    this.#channel = channel;
    this.#process = child;
    this.#connection = connection;
    void child.ended.then((exit) => this.#closed(channel, exit));
  }

  #receive(connection: Connection, line: string): void {
    const routes = this.#routes;
    const frame = routes && parseObject(line);
    if (routes === undefined || frame === undefined) connection.receive(line);
    else if (!routes.take(frame)) connection.receiveFrame(frame);
  }

  #startProcess(options: HostProcessOptions): HostProcess {
    try {
      return new HostProcess(options);
    } catch (error) {
      throw new ConnectionClosedError(describeExit({ error }, options.cwd), {}, { cause: error });
    }
  }

  #closed(channel: SessionChannel, exit: HostExit & { readonly error?: Error }): void {
    const reason = this.#isStopping
      ? "The client was stopped"
      : describeExit(exit, this.#options.cwd);
    const error = new ConnectionClosedError(reason, exit, { cause: exit.error });
    if (this.#connection === channel.connection) {
      this.#connection = undefined;
      // After a stop, this may already be the next start.
      if (!this.#isStopping) this.#starting = undefined;
    }
    channel.close(error);
    this.#routes?.end(reason, this.#isStopping);
    this.hub.close(error, this.#isStopping);
  }

  /**
   * A host that does not apply the policy must not get work.
   *
   * @throws {RpcError} `policy_denied`
   */
  async #confirmPolicy(): Promise<void> {
    const wanted = policiesOf(this.#options);
    if (wanted.length === 0) return;
    const { confirmPolicy } = await import("./confirm-policy.ts");
    await confirmPolicy(this.connection(), wanted);
  }

  async #initialize(): Promise<Result<"initialize"> | undefined> {
    try {
      return await initializeHost(this.connection(), this.#options);
    } catch (error) {
      // An older host: everything works, with replies in full form.
      if (error instanceof RpcError) return undefined;
      throw error;
    }
  }
}
