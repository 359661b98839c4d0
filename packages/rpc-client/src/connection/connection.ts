import {
  type ClientEvent,
  type CommandName,
  DEFAULT_MAX_LINE_BYTES,
  type ExtensionUiRequest,
  type ExtensionUiResponse,
  encodeLine,
  type HostAnswer,
  type HostRequestFrame,
  type HostRequestResolved,
  type HostToolCall,
  type HostToolCancel,
  type Params,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import {
  type ConnectionClosedError,
  FrameTooLargeError,
  RequestTimeoutError,
  RpcError,
} from "../base/errors.ts";
import { startTimer } from "../base/start-timer.ts";
import { decodeHostLine, isAssistantMessage } from "./host-frame.ts";
import { MessageRebuilder } from "./rebuild-message.ts";

/** How one request is sent. */
export interface RequestOptions {
  /** How long to wait for the response; 0 means no limit. */
  readonly timeoutMs?: number | undefined;
  /** Stops waiting, with the signal's reason; the host may still carry out the command. */
  readonly signal?: AbortSignal | undefined;
}

/** Where a connection's lines and frames go. */
export interface ConnectionOptions {
  readonly write: (line: string) => void;
  readonly onEvent: (event: ClientEvent) => void;
  readonly onUiRequest: (request: ExtensionUiRequest) => void;
  /** What the host asks a client that said it answers such requests. */
  readonly onHostRequest?: ((request: HostRequestFrame) => void) | undefined;
  readonly onHostRequestResolved?: ((resolved: HostRequestResolved) => void) | undefined;
  /** The host calls a tool of the client, or does not want its result any more. */
  readonly onToolCall?: ((call: HostToolCall) => void) | undefined;
  readonly onToolCancel?: ((cancel: HostToolCancel) => void) | undefined;
  /** The host refuses an answer to such a request. */
  readonly onRefused?: ((id: string, message: string) => void) | undefined;
  /** Called with each line that is not a frame. */
  readonly onNoise: (line: string) => void;
}

interface PendingRequest {
  readonly id: string;
  readonly command: CommandName;
  readonly answer: Promise<unknown>;
  /** Releases the timer and the signal. */
  release(): void;
  resolve(data: unknown): void;
  reject(error: Error): void;
}

/** A sent request: its id, and the promise of its response's `data`. */
export interface SentRequest {
  readonly id: string;
  readonly answer: Promise<unknown>;
}

/**
 * Sends requests and receives responses and events, over lines of JSON. Knows nothing about
 * processes.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #pending = new Map<string, PendingRequest>();
  readonly #rebuilder = new MessageRebuilder();
  /** The longest line the host accepts. */
  maxSentBytes = DEFAULT_MAX_LINE_BYTES;
  #lastId = 0;
  #closed: ConnectionClosedError | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Sends a command. Rejects with RpcError, RequestTimeoutError, FrameTooLargeError or
   * ConnectionClosedError.
   */
  send<N extends CommandName>(
    name: N,
    params: Params<N>,
    options: RequestOptions = {},
  ): SentRequest {
    this.#lastId += 1;
    const id = `c${this.#lastId}`;
    if (this.#closed) return { id, answer: Promise.reject(this.#closed) };
    if (options.signal?.aborted) return { id, answer: Promise.reject(options.signal.reason) };
    const line = encodeLine({ ...params, id, type: name });
    const sizeBytes = Buffer.byteLength(line) - "\n".length;
    if (sizeBytes > this.maxSentBytes) {
      const error = new FrameTooLargeError("command", name, sizeBytes, this.maxSentBytes);
      return { id, answer: Promise.reject(error) };
    }
    const answer = this.#expect(id, name, options);
    this.#options.write(line);
    return { id, answer };
  }

  /** Fails the request whose response was too long to read; `head` is how the response begins. */
  skip(head: string, sizeBytes: number, limitBytes: number): void {
    const [, id = ""] = /^\s*\{\s*"id"\s*:\s*"(c\d+)"/.exec(head) ?? [];
    const request = this.#pending.get(id);
    if (request === undefined) return;
    this.#pending.delete(id);
    request.release();
    request.reject(new FrameTooLargeError("answer", request.command, sizeBytes, limitBytes));
  }

  /** Resolves once every pending request of the commands meant is settled. */
  async answered(isMeant: (command: CommandName) => boolean): Promise<void> {
    const requests = [...this.#pending.values()].filter(({ command }) => isMeant(command));
    await Promise.allSettled(requests.map(({ answer }) => answer));
  }

  answerUiRequest(response: ExtensionUiResponse): void {
    if (!this.#closed) this.#options.write(encodeLine(response));
  }

  answerHostRequest(response: HostAnswer): void {
    if (!this.#closed) this.#options.write(encodeLine(response));
  }

  /** Handles one line of the host. */
  receive(text: string): void {
    const line = decodeHostLine(text);
    switch (line.kind) {
      case "response":
        this.#settle(line.frame);
        return;
      case "ui_request":
        this.#options.onUiRequest(line.request);
        return;
      case "host_request":
        this.#options.onHostRequest?.(line.request);
        return;
      case "host_request_resolved":
        this.#options.onHostRequestResolved?.(line.resolved);
        return;
      case "host_tool_call":
        this.#options.onToolCall?.(line.call);
        return;
      case "host_tool_cancel":
        this.#options.onToolCancel?.(line.cancel);
        return;
      case "bad_ui_request":
        this.answerUiRequest({ type: "extension_ui_response", id: line.id, cancelled: true });
        return;
      case "delta": {
        const update = this.#rebuilder.apply(line.update);
        if (update) this.#options.onEvent(update);
        return;
      }
      case "event": {
        const { event } = line;
        if (event.type === "message_start" && isAssistantMessage(event.message)) {
          this.#rebuilder.start(event.message);
        }
        this.#options.onEvent(event);
        return;
      }
      case "noise":
        this.#options.onNoise(text);
    }
  }

  /** Rejects everything that is pending or sent from now on. */
  close(error: ConnectionClosedError): void {
    this.#closed ??= error;
    for (const request of this.#pending.values()) {
      request.release();
      request.reject(error);
    }
    this.#pending.clear();
  }

  #expect(id: string, command: CommandName, options: RequestOptions): Promise<unknown> {
    const { timeoutMs = 0, signal } = options;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const giveUp = (reason: unknown) => {
      this.#pending.delete(id);
      release();
      reject(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const onTimeout = () => giveUp(new RequestTimeoutError(command, timeoutMs));
    const timer = startTimer(onTimeout, timeoutMs);
    signal?.addEventListener("abort", onAbort);
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    this.#pending.set(id, { id, command, answer: promise, release, resolve, reject });
    return promise;
  }

  #settle(frame: ResponseFrame): void {
    if (/^host_(response|tool_result|tool_update)$/.test(frame.command)) {
      if (!frame.success && frame.command === "host_response")
        this.#options.onRefused?.(String(frame.id), frame.error ?? "");
      return;
    }
    const request = this.#requestOf(frame);
    if (request === undefined) return;
    this.#pending.delete(request.id);
    request.release();
    if (frame.success) {
      request.resolve(frame.data);
      return;
    }
    const details = { code: frame.code, command: request.command, requestId: request.id };
    request.reject(new RpcError(frame.error ?? `${request.command} failed`, details));
  }

  /**
   * Some hosts omit the id of an error: for a command they do not know (the oldest pending one of
   * that name is meant), and for one whose handler threw (unambiguous only if a single one is
   * pending).
   */
  #requestOf(frame: ResponseFrame): PendingRequest | undefined {
    if (frame.id !== undefined) return this.#pending.get(String(frame.id));
    const [first, second] = this.#pending.values();
    if (frame.command === "parse") return second === undefined ? first : undefined;
    for (const request of this.#pending.values()) {
      if (request.command === frame.command) return request;
    }
    return undefined;
  }
}
