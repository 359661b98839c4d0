import {
  type ClientEvent,
  type CommandName,
  DEFAULT_MAX_LINE_BYTES,
  type ExtensionUiRequest,
  type ExtensionUiResponse,
  encodeLine,
  type HostAnswer,
  type Params,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import type { FromWorkspaceClient } from "@tau-agent/rpc-protocol/workspace";
import {
  type ConnectionClosedError,
  FrameTooLargeError,
  RequestTimeoutError,
  RpcError,
} from "../base/errors.ts";
import { startTimer } from "../base/start-timer.ts";
import {
  type AskedFrame,
  decodeHostFrame,
  decodeHostLine,
  type HostLine,
  isAssistantMessage,
} from "./host-frame.ts";
import { MessageRebuilder } from "./rebuild-message.ts";

/** How one request is sent. */
export interface RequestOptions {
  /** How long to wait for the response; 0 means no limit. */
  readonly timeoutMs?: number | undefined;
  /** Stops waiting, with the signal's reason; the host may still carry out the command. */
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectionOptions {
  readonly write: (line: string) => void;
  readonly onEvent: (event: ClientEvent) => void;
  readonly onUiRequest: (request: ExtensionUiRequest) => void;
  /** Called with requests of the host that the client has declared to answer. */
  readonly onAsked?: ((frame: AskedFrame) => void) | undefined;
  /** Called when the host refuses an answer to such a request. */
  readonly onRefused?: ((id: string, message: string) => void) | undefined;
  /** Called with each line that is not a frame. */
  readonly onNoise: (line: string) => void;
  /** Members of every frame that this client sends, such as the session it is for. */
  readonly tag?: { readonly sessionId: string } | undefined;
  /** The prefix of ids, so that connections sharing a wire use different ids. */
  readonly idPrefix?: string | undefined;
  /** Whether every prompt gets an id, so that it can be sent again if the answer was lost. */
  readonly namesPrompts?: boolean | undefined;
}

/** Commands that can safely be executed twice. */
const repeatable = /^(get|list|set)_/;

interface PendingRequest {
  readonly id: string;
  readonly command: CommandName;
  readonly line: string;
  readonly isRepeatable: boolean;
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

/** Sends requests and receives responses and events, over lines of JSON. Knows nothing about processes. */
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

  /** Sends a command. Rejects with RpcError, RequestTimeoutError, FrameTooLargeError or ConnectionClosedError. */
  send<N extends CommandName>(
    name: N,
    params: Params<N>,
    options: RequestOptions = {},
  ): SentRequest {
    this.#lastId += 1;
    const { idPrefix = "c", tag, namesPrompts = false } = this.#options;
    const id = `${idPrefix}${this.#lastId}`;
    if (this.#closed) return { id, answer: Promise.reject(this.#closed) };
    if (options.signal?.aborted) return { id, answer: Promise.reject(options.signal.reason) };
    const named = namesPrompts && name === "prompt" ? { promptId: crypto.randomUUID() } : {};
    const line = encodeLine({ ...named, ...params, ...tag, id, type: name });
    const sizeBytes = sizeOf(line, this.maxSentBytes);
    if (sizeBytes > this.maxSentBytes) {
      const error = new FrameTooLargeError("command", name, sizeBytes, this.maxSentBytes);
      return { id, answer: Promise.reject(error) };
    }
    const isRepeatable = repeatable.test(name) || (namesPrompts && name === "prompt");
    const answer = this.#expect({ id, command: name, line, isRepeatable }, options);
    this.#options.write(line);
    return { id, answer };
  }

  /** Fails the request whose response was too long to read; `head` is the beginning of the response. */
  skip(head: string, sizeBytes: number, limitBytes: number): void {
    const [, id = ""] = /^\s*\{\s*"id"\s*:\s*"(\w+)"/.exec(head) ?? [];
    const request = this.#pending.get(id);
    if (request === undefined) return;
    this.#pending.delete(id);
    request.release();
    request.reject(new FrameTooLargeError("answer", request.command, sizeBytes, limitBytes));
  }

  /** Resolves once every pending request of the matching commands is settled. */
  async answered(isMeant: (command: CommandName) => boolean): Promise<void> {
    const requests = [...this.#pending.values()].filter(({ command }) => isMeant(command));
    await Promise.allSettled(requests.map(({ answer }) => answer));
  }

  answerUiRequest(response: ExtensionUiResponse): void {
    this.#answer(response);
  }

  answerHostRequest(response: HostAnswer | FromWorkspaceClient): void {
    this.#answer(response);
  }

  /** Sets the message at the start of a reply; the next steps continue it. */
  continueReply(message: AssistantMessage): void {
    this.#rebuilder.start(message);
  }

  /** The wire was lost and is being restored: requests that must not be sent twice fail. */
  interrupt(error: ConnectionClosedError): void {
    for (const request of [...this.#pending.values()]) {
      if (request.isRepeatable) continue;
      this.#pending.delete(request.id);
      request.release();
      request.reject(error);
    }
  }

  /** The unanswered requests, as they were sent. */
  get unanswered(): string[] {
    return [...this.#pending.values()].map(({ line }) => line);
  }

  receive(text: string): void {
    this.#take(decodeHostLine(text), text);
  }

  receiveFrame(frame: unknown): void {
    this.#take(decodeHostFrame(frame), "");
  }

  #answer(response: ExtensionUiResponse | HostAnswer | FromWorkspaceClient): void {
    if (!this.#closed) this.#options.write(encodeLine({ ...response, ...this.#options.tag }));
  }

  #take(line: HostLine, text: string): void {
    switch (line.kind) {
      case "response":
        this.#settle(line.frame);
        return;
      case "ui_request":
        this.#options.onUiRequest(line.request);
        return;
      case "asked":
        this.#options.onAsked?.(line.frame);
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

  #expect(
    sent: Pick<PendingRequest, "id" | "command" | "line" | "isRepeatable">,
    options: RequestOptions,
  ): Promise<unknown> {
    const { id, command } = sent;
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
    this.#pending.set(id, { ...sent, answer: promise, release, resolve, reject });
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
   * Some hosts omit the id of an error: for a command they do not know (the oldest pending one of that name is meant),
   * and for one whose handler threw (unambiguous only if a single one is pending).
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

/** The bytes of a line without its end; only a line that may be over the limit is counted exactly. */
function sizeOf(line: string, limit: number): number {
  const most = 3 * (line.length - "\n".length);
  return most <= limit ? most : new TextEncoder().encode(line).length - "\n".length;
}
