import type { Params, Result } from "@tau-agent/rpc-protocol";
import { isJsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";
import { ConnectionClosedError, RpcError } from "../base/errors.ts";
import { Connection } from "../connection/connection.ts";
import type { OpenWire, Wire } from "../wire/wire.ts";
import { decodeResult } from "./command-methods.ts";
import type { RemoteOptions } from "./connect-options.ts";
import { initializeHost } from "./initialize-host.ts";
import { DEFAULT_REQUEST_TIMEOUT_MS } from "./rpc-client-options.ts";
import { type LinkedHost, SessionLink } from "./session-link.ts";
import { SessionRoutes } from "./session-routes.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const RECONNECT_MS = 60_000;
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/** The connection to a listening host. A lost connection is restored where it was cut. */
export class RemoteHost implements LinkedHost {
  /** The link for the session of a host with only one, and for commands about the host itself. */
  readonly main: SessionLink;
  readonly routes: SessionRoutes;
  readonly #open: OpenWire;
  readonly #options: RemoteOptions;
  /** Lines that wait for a connection. */
  #waiting: string[] = [];
  #wire: Wire | undefined;
  #isLive = false;
  /** Prepares the connection before anything else is sent. */
  #handshake: Connection | undefined;
  #info: Result<"initialize"> | undefined;
  #isStopping = false;
  #wake: (() => void) | undefined;

  private constructor(open: OpenWire, options: RemoteOptions) {
    this.#open = open;
    this.#options = options;
    this.main = new SessionLink(this);
    this.routes = new SessionRoutes(this);
  }

  /**
   * Connects to a host.
   *
   * @throws {ConnectionClosedError}
   */
  static async connect(open: OpenWire, options: RemoteOptions): Promise<RemoteHost> {
    const host = new RemoteHost(open, options);
    try {
      await host.#establish(false);
    } catch (error) {
      host.close();
      throw error;
    }
    return host;
  }

  get handlers(): RemoteOptions {
    return this.#options;
  }

  get info(): Result<"initialize"> | undefined {
    return this.#info;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  write(line: string): void {
    if (this.#isLive) this.#wire?.write(line);
    else this.#waiting.push(line);
  }

  /** There is nowhere to show a note. */
  note(): void {}

  /** Closes the connection; sessions continue in the host. */
  close(): void {
    this.#isStopping = true;
    this.#end("The client was stopped");
  }

  get #links(): readonly SessionLink[] {
    return [this.main, ...this.routes.links];
  }

  /** The number of frames read so far. */
  get #framesRead(): number {
    return this.#links.reduce((sum, { position }) => sum + (position?.seq ?? 0), 0);
  }

  async #establish(isAgain: boolean): Promise<void> {
    const { connectTimeoutMs: timeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    let wire: Wire | undefined;
    wire = await this.#open({
      timeoutMs,
      onLine: (line) => this.#receive(line),
      onClose: (reason) => {
        if (wire === undefined || wire === this.#wire) this.#lost(reason);
      },
    });
    this.#wire = wire;
    if (this.#isStopping) {
      wire.close();
      throw new ConnectionClosedError("The client was stopped");
    }
    await this.#shakeHands(wire, isAgain);
    this.#isLive = true;
    const again = isAgain ? this.#links.flatMap((link) => link.channel.connection.unanswered) : [];
    const waiting = this.#waiting.splice(0);
    for (const line of new Set([...again, ...waiting])) wire.write(line);
  }

  async #shakeHands(wire: Wire, isAgain: boolean): Promise<void> {
    const handshake = new Connection({
      write: (line) => wire.write(line),
      onEvent: () => {},
      onUiRequest: () => {},
      onNoise: () => {},
      idPrefix: "h",
    });
    this.#handshake = handshake;
    const { requestTimeoutMs: timeoutMs = DEFAULT_REQUEST_TIMEOUT_MS } = this.#options;
    this.#info = await initializeHost(handshake, this.#options);
    const { maxFrameBytes } = this.#info;
    for (const link of this.#links) {
      if (maxFrameBytes) link.channel.connection.maxSentBytes = maxFrameBytes;
      await this.#attach(handshake, link, { isAgain, timeoutMs });
    }
    this.#handshake = undefined;
  }

  /** Resumes the frames of a session where they were cut. */
  async #attach(
    handshake: Connection,
    link: SessionLink,
    { isAgain, timeoutMs }: { readonly isAgain: boolean; readonly timeoutMs: number },
  ): Promise<void> {
    const { sessionId, position } = link;
    // A host with many sessions has no main session to attach to.
    if (isAgain && position === undefined) return;
    const params: Params<"attach"> = {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(position === undefined ? {} : { streamId: position.streamId, after: position.seq }),
    };
    const live = link.expectLive();
    try {
      const attached = await handshake.send("attach", params, { timeoutMs }).answer;
      const { state, pendingRequests } = decodeResult("attach", attached);
      const isResumed = await live;
      if (isAgain) await this.#restore(handshake, link, timeoutMs);
      link.channel.takeUp(pendingRequests);
      if (isAgain) link.reconnected(isResumed, state);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (!isAgain) return;
      link.end(`The session is gone: ${error.message}`, false);
      if (sessionId !== undefined) this.routes.drop(sessionId);
    }
  }

  /** A new connection has neither the filter nor the tools and schemes of the previous one. */
  async #restore(handshake: Connection, link: SessionLink, timeoutMs: number): Promise<void> {
    const { sessionId, filter } = link;
    const { tools, uris } = link.channel;
    const tag = sessionId === undefined ? {} : { sessionId };
    if (filter.params !== undefined) {
      const params = { ...filter.params, ...tag };
      await handshake.send("set_event_filter", params, { timeoutMs }).answer;
    }
    if (uris.definitions.length > 0) {
      const params = { schemes: uris.definitions, ...tag };
      await handshake.send("set_host_uri_schemes", params, { timeoutMs }).answer;
    }
    if (tools.tools.size === 0) return;
    const definitions = [...tools.tools.values()].map(({ definition }) => definition);
    await handshake.send("set_host_tools", { tools: definitions, ...tag }, { timeoutMs }).answer;
  }

  #receive(line: string): void {
    const frame = parseObject(line);
    if (frame === undefined) return;
    const { type, id, command, success, sessionId, data } = frame;
    const isHandshake = type === "response" && typeof id === "string" && id.startsWith("h");
    if (isHandshake) {
      // At once, because the next frame may belong to the session.
      const isMain = command === "attach" && success === true && sessionId === undefined;
      if (isMain && isJsonObject(data)) this.main.attached(data as Result<"attach">);
      this.#handshake?.receiveFrame(frame);
    } else if (!this.routes.take(frame)) {
      this.main.receive(frame);
    }
  }

  #lost(reason: string): void {
    this.#wire = undefined;
    const wasLive = this.#isLive;
    this.#isLive = false;
    const error = new ConnectionClosedError(`The connection was lost: ${reason}`);
    this.#handshake?.close(error);
    for (const link of this.#links) link.cut(error);
    // While the connection is being restored, the loop that restores it continues.
    if (!wasLive || this.#isStopping) return;
    for (const link of this.#links) link.channel.interrupt(error);
    void this.#reconnect(reason);
  }

  async #reconnect(reason: string): Promise<void> {
    const { maxMs = RECONNECT_MS } = this.#options.reconnect ?? {};
    const end = performance.now() + maxMs;
    let last = reason;
    let waitMs = FIRST_WAIT_MS;
    while (performance.now() < end) {
      if (this.#isStopping) return;
      const read = this.#framesRead;
      try {
        await this.#establish(true);
        return;
      } catch (error) {
        this.#wire?.close();
        this.#wire = undefined;
        last = error instanceof Error ? error.message : String(error);
      }
      // After a connection that received frames, the next attempt starts soon.
      waitMs = read === this.#framesRead ? Math.min(2 * waitMs, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
      await this.#sleep(Math.min(waitMs, Math.max(0, end - performance.now())));
    }
    this.#end(`The connection was lost: ${last}`);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #end(reason: string): void {
    this.#isLive = false;
    this.#wake?.();
    this.#waiting = [];
    this.#wire?.close();
    this.#wire = undefined;
    this.main.end(reason, this.#isStopping);
    this.routes.end(reason, this.#isStopping);
  }
}
