import { type AnyMessage, RequestError, type Stream } from "@agentclientprotocol/sdk";
import { encodeLine, LineDecoder } from "@tau-agent/rpc-protocol/plain";

export interface MessageOutput {
  /** Returns false when the reader cannot keep up. */
  write(text: string, onWritten?: () => void): boolean;
  onDrain(listener: () => void): void;
}

/** Reading pauses when this many messages are waiting. */
const MAX_WAITING = 256;
/** How long the last answers may take: an agent must exit soon after its input ends. */
const LAST_ANSWERS_MS = 1_500;

export class MessageStream {
  readonly stream: Stream;
  readonly #input: NodeJS.ReadableStream;
  readonly #output: MessageOutput;
  readonly #lines = new LineDecoder();
  readonly #waiting: AnyMessage[] = [];
  /** Requests of the client that have no answer yet. */
  readonly #unanswered = new Set<string | number | null>();
  readonly #drained = new Set<() => void>();
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  #written: Promise<void> = Promise.resolve();
  #isDelivering = false;
  #hasEnded = false;
  #waits = true;
  #onAnswered: () => void = () => {};

  /** @param onEnd - called at the end of the input */
  constructor(input: NodeJS.ReadableStream, output: MessageOutput, onEnd: () => void) {
    this.#input = input;
    this.#output = output;
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          this.#controller = controller;
        },
      }),
      writable: new WritableStream<AnyMessage>({ write: (message) => this.#write(message) }),
    };
    output.onDrain(() => this.#drain());
    input.on("data", (chunk: Buffer) => this.#take(this.#lines.push(chunk)));
    const end = (): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.#take(this.#lines.end());
      onEnd();
    };
    input.on("end", end);
    input.on("error", end);
  }

  /** Resolves once every request has its answer, or after {@link LAST_ANSWERS_MS}. */
  async answered(): Promise<void> {
    if (this.#isAnswered) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onAnswered = resolve;
    const timer = setTimeout(resolve, LAST_ANSWERS_MS);
    await promise;
    clearTimeout(timer);
  }

  /** Stops waiting for a slow reader, because the process is about to exit. */
  stopWaiting(): void {
    this.#waits = false;
    for (const go of this.#drained) go();
    this.#drained.clear();
  }

  close(): void {
    try {
      this.#controller?.close();
    } catch {
      // Already closed.
    }
    this.#controller = undefined;
  }

  /** Resolves once all output has been handed to the operating system. */
  flushed(): Promise<void> {
    return this.#written;
  }

  #take(lines: Iterable<{ text: string } | { oversizedBytes: number }>): void {
    for (const line of lines) {
      if ("oversizedBytes" in line) {
        this.#refuse(`the line has ${line.oversizedBytes} bytes, more than the limit`);
        continue;
      }
      let message: AnyMessage;
      try {
        message = JSON.parse(line.text);
      } catch {
        this.#refuse();
        continue;
      }
      if (isRequest(message)) this.#unanswered.add(message.id);
      this.#waiting.push(message);
    }
    if (this.#waiting.length > MAX_WAITING) this.#input.pause();
    this.#deliver();
  }

  /** Delivers one message at a time, so that each reaches its handler before the next. */
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    setImmediate(() => {
      this.#isDelivering = false;
      const message = this.#waiting.shift();
      if (message === undefined) {
        this.#noteAnswered();
        return;
      }
      this.#controller?.enqueue(message);
      if (this.#waiting.length < MAX_WAITING / 2) this.#input.resume();
      this.#deliver();
    });
  }

  get #isAnswered(): boolean {
    return this.#waiting.length === 0 && this.#unanswered.size === 0 && !this.#isDelivering;
  }

  #noteAnswered(): void {
    if (this.#isAnswered) this.#onAnswered();
  }

  #refuse(reason?: string): void {
    const error = RequestError.parseError(undefined, reason).toErrorResponse();
    void this.#write({ jsonrpc: "2.0", id: null, error });
  }

  #write(message: AnyMessage): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#written = promise;
    const isTaken = this.#output.write(encodeLine(message), resolve);
    if (!("method" in message)) {
      this.#unanswered.delete(message.id);
      this.#noteAnswered();
    }
    if (isTaken || !this.#waits) return Promise.resolve();
    return new Promise((go) => this.#drained.add(go));
  }

  #drain(): void {
    for (const go of this.#drained) go();
    this.#drained.clear();
    this.#output.onDrain(() => this.#drain());
  }
}

function isRequest(message: unknown): message is { readonly id: string | number | null } {
  const { id, method } = Object(message) as { id?: unknown; method?: unknown };
  const isId = id === null || typeof id === "string" || typeof id === "number";
  return isId && typeof method === "string" && !Array.isArray(message);
}
