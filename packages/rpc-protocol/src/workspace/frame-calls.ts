import { isJsonObject, type JsonObject } from "../vocabulary/json-object.ts";
import { errorMessage } from "../vocabulary/system-limit.ts";
import { decodeError, type SendToServer } from "./frames.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** How often to ping the server; two missed pings mean that the connection is lost. */
const pingMs = 15_000;
const missedPings = 2;
/** The maximum output that waits for listeners before no more is accepted. */
const maxHeldBytes = 16 * 1024 * 1024;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: WorkspaceError) => void;
}

/** Receives the events of a command. */
export interface CommandEvents {
  take(event: JsonObject): void;
  lose(error: WorkspaceError): void;
}

export interface OpenCall {
  readonly id: number;
  readonly answer: Promise<unknown>;
}

export interface FrameCallsOptions {
  readonly send: SendToServer;
  /** Called once, when the connection is lost. */
  readonly onLost?: ((reason: string) => void) | undefined;
}

/** The requests of one connection to a server of a workspace, until it is lost. */
export class FrameCalls {
  readonly #send: SendToServer;
  readonly #onLost: ((reason: string) => void) | undefined;
  readonly #waiting = new Map<number, Waiting>();
  readonly #commands = new Map<number, CommandEvents>();
  readonly #timer: ReturnType<typeof setInterval>;
  #made = 0;
  #heldBytes = 0;
  #goOn: (() => void)[] = [];
  #hasHeard = true;
  #missed = 0;
  #lost: WorkspaceError | undefined;

  constructor({ send, onLost }: FrameCallsOptions) {
    this.#send = send;
    this.#onLost = onLost;
    this.#timer = setInterval(() => this.#ping(), pingMs);
    // Where timers are objects, they must not keep a process alive.
    const timer: { unref?: () => void } = Object(this.#timer);
    timer.unref?.();
  }

  /** Sends a request. */
  open(method: string, params: object, signal?: AbortSignal, command?: CommandEvents): OpenCall {
    const id = ++this.#made;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (signal?.aborted) throw new WorkspaceError("aborted");
      if (this.#lost !== undefined) throw this.#lost;
      const onAbort = (): void => {
        this.#waiting.delete(id);
        this.cancel(id);
        reject(new WorkspaceError("aborted"));
      };
      const close = (): void => signal?.removeEventListener("abort", onAbort);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(id, {
        resolve: (result) => {
          close();
          resolve(result);
        },
        reject: (error) => {
          close();
          reject(error);
        },
      });
      if (command !== undefined) this.#commands.set(id, command);
      this.#goAhead();
      this.#write(id, { id, method, params });
    });
    return { id, answer };
  }

  async call(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    return this.open(method, params, signal).answer;
  }

  cancel(id: number): void {
    if (this.#lost !== undefined) return;
    void this.#send({ cancel: id });
  }

  /** Forgets a command that has sent its last event, or whose events are no longer of interest. */
  forget(id: number): void {
    this.#commands.delete(id);
  }

  /** Adds to (or subtracts from) the count of bytes that listeners have not taken yet. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (!this.#isFull) this.#goAhead();
  }

  /** Records that the server is alive: a large frame may delay the answers to pings. */
  heard(): void {
    this.#hasHeard = true;
  }

  /**
   * Takes any frame of the server. Never throws.
   *
   * @returns resolves when the next frame can be taken; undefined if it can be at once
   */
  take(frame: unknown): void | Promise<void> {
    this.#hasHeard = true;
    if (!isJsonObject(frame)) return this.lose("the workspace sent what is not a frame");
    const { id, error, event } = frame;
    if (id === undefined && isJsonObject(error)) {
      return this.lose(`the workspace answered ${String(error.code).slice(0, 100)}`);
    }
    if (typeof id !== "number") return;
    if (event !== undefined) this.#commands.get(id)?.take(frame);
    else this.#settle(id, frame);
    if (this.#isFull) return new Promise((resolve) => this.#goOn.push(resolve));
  }

  /** Ends everything that is open as lost. */
  lose(reason: string): void {
    if (this.#lost !== undefined) return;
    const error = new WorkspaceError("lost", `workspace lost: ${reason}`);
    this.#lost = error;
    clearInterval(this.#timer);
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const command of this.#commands.values()) command.lose(error);
    this.#waiting.clear();
    this.#commands.clear();
    this.#goAhead();
    this.#onLost?.(reason);
  }

  /** A listener may itself wait for an answer, so nothing is held back while one is pending. */
  get #isFull(): boolean {
    return this.#heldBytes > maxHeldBytes && this.#waiting.size === 0 && this.#lost === undefined;
  }

  #goAhead(): void {
    for (const resolve of this.#goOn.splice(0)) resolve();
  }

  #settle(id: number, frame: JsonObject): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    if (frame.error === undefined) waiting.resolve(frame.result);
    else {
      this.#commands.delete(id);
      waiting.reject(decodeError(frame.error));
    }
  }

  #write(id: number, frame: { id: number; method: string; params: object }): void {
    try {
      void this.#send(frame as Parameters<SendToServer>[0]);
    } catch (error) {
      this.#settle(id, { error: Object(error).code === undefined ? errorOf(error) : error });
    }
  }

  #ping(): void {
    // While this side holds output back, no answers to pings can be read.
    if (this.#goOn.length > 0) return;
    this.#missed = this.#hasHeard ? 0 : this.#missed + 1;
    this.#hasHeard = false;
    if (this.#missed >= missedPings) this.lose("it does not answer");
    else void this.call("ping", {}).catch(() => {});
  }
}

function errorOf(error: unknown): object {
  return { code: "failed", message: errorMessage(error) };
}
