import { lost } from "./open-shell.ts";

/** What a connection tells of itself. */
export type WorkspaceStatusSink = (status: "lost" | "connected", reason?: string) => void;

const firstPauseMs = 200;
const longestPauseMs = 10_000;

/** Makes a connection, and makes it again after it was lost; calls wait for it as long as it is tried. */
export class Reconnecting<Connection> {
  readonly #connect: () => Promise<Connection>;
  readonly #limitMs: number;
  readonly #onStatus: WorkspaceStatusSink;
  #current: Promise<Connection> | undefined;
  #isTriedOnce = false;
  #isClosed = false;
  #timer: { readonly end: () => void } | undefined;

  constructor(
    first: Connection,
    connect: () => Promise<Connection>,
    {
      reconnectMs,
      onStatus,
    }: { readonly reconnectMs: number; readonly onStatus: WorkspaceStatusSink },
  ) {
    this.#current = Promise.resolve(first);
    this.#connect = connect;
    this.#limitMs = reconnectMs;
    this.#onStatus = onStatus;
  }

  /** The connection; rejects when it cannot be had in time. */
  get(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(lost("it was closed"));
    this.#current ??= this.#tryOnce();
    return this.#current;
  }

  /** Tells that the connection is gone. */
  lost(reason: string): void {
    if (this.#isClosed) return;
    this.#onStatus("lost", reason);
    this.#isTriedOnce = false;
    this.#current = this.#retry();
    this.#current.catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.end();
  }

  async #retry(): Promise<Connection> {
    const deadline = performance.now() + this.#limitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      await this.#pause(Math.min(pauseMs, Math.max(0, deadline - performance.now())));
      if (this.#isClosed) throw lost("it was closed");
      try {
        const connection = await this.#connect();
        this.#onStatus("connected");
        return connection;
      } catch (error) {
        if (performance.now() < deadline) continue;
        this.#current = undefined;
        this.#isTriedOnce = true;
        throw error;
      }
    }
  }

  /** After the limit each new call tries once. */
  async #tryOnce(): Promise<Connection> {
    try {
      const connection = await this.#connect();
      if (this.#isTriedOnce) this.#onStatus("connected");
      return connection;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#timer = {
        end: () => {
          clearTimeout(timer);
          resolve();
        },
      };
    });
  }
}
