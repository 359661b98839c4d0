import type { Params } from "@tau-agent/rpc-protocol";
import { fromCaller } from "./base/call-site.ts";
import type { HostExit } from "./base/errors.ts";
import type { StopOptions } from "./host/host-process.ts";
import type { ConnectOptions } from "./session/connect-options.ts";
import { ProcessLink } from "./session/process-link.ts";
import type { RemoteClient } from "./session/remote-client.ts";
import type { RemoteSession } from "./session/remote-session.ts";
import type { RpcClientOptions } from "./session/rpc-client-options.ts";
import { SessionClient } from "./session/session-client.ts";

/**
 * A host as a child process: one method per command, events to listen to, and an orderly end. Requests reject
 * with RpcError, RequestTimeoutError or ConnectionClosedError.
 */
export class RpcClient extends SessionClient implements AsyncDisposable {
  readonly #link: ProcessLink;
  readonly #requestTimeoutMs: number | undefined;

  constructor(options: RpcClientOptions = {}) {
    const link = new ProcessLink(options);
    super(link, options.requestTimeoutMs);
    this.#link = link;
    this.#requestTimeoutMs = options.requestTimeoutMs;
  }

  /**
   * Connects to a listening host: `unix:<path>`, `ws://…` or `wss://…`. A lost connection is restored
   * automatically and continues where it was cut; listeners get an event `reconnected`.
   *
   * @throws {ConnectionClosedError}
   */
  static async connect(url: string, options: ConnectOptions = {}): Promise<RemoteClient> {
    const [{ RemoteHost }, { RemoteClient }, { wireTo }, { findToken }] = await Promise.all([
      import("./session/remote-host.ts"),
      import("./session/remote-client.ts"),
      import("./wire/open-wire.ts"),
      import("./wire/find-token.ts"),
    ]);
    const host = await fromCaller(RpcClient.connect, async () =>
      RemoteHost.connect(wireTo(url, findToken(url, options)), options),
    );
    return new RemoteClient(host, options);
  }

  /** Opens a separate session in a host that was started with `--sessions`. */
  async openSession(params: Params<"open_session"> = {}): Promise<RemoteSession> {
    const { RemoteSession } = await import("./session/remote-session.ts");
    const routes = await this.#link.routes();
    const { sessionId } = await this.request("open_session", params);
    return new RemoteSession(routes.link(sessionId), this.#requestTimeoutMs);
  }

  /** The host's process id, while and after it runs. */
  get pid(): number | undefined {
    return this.#link.process?.pid;
  }

  /** The host's exit code, once it has one. */
  get exitCode(): number | undefined {
    return this.#link.process?.exitCode;
  }

  /** The end of what the host wrote to stderr (64 Ki characters). */
  getStderr(): string {
    return this.#link.process?.stderr ?? "";
  }

  /**
   * Starts the host and negotiates the stream form. A client whose host has ended may be started again; if it
   * is still being stopped, `start` waits for that.
   *
   * @throws {ConnectionClosedError} with the end of the host's stderr if the host ends before it answers or
   * cannot be started, or if the client is stopped meanwhile
   */
  async start(): Promise<this> {
    await fromCaller(this.start, () => this.#link.start());
    return this;
  }

  /** Ends the host: closes its input, then sends SIGTERM, then SIGKILL. Resolves when the process has ended. */
  stop(options?: StopOptions): Promise<HostExit | undefined> {
    return this.#link.stop(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
