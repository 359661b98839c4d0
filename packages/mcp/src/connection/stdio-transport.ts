import type { Readable } from "node:stream";
import { setTimeout as after } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { DEFAULT_MAX_LINE_BYTES, LineDecoder, parseObject } from "@tau-agent/rpc-protocol/plain";
import type { SandboxStartError, ServerProcess } from "@tau-agent/system";

/** A running program that serves on its pipes, on whatever machine. */
export type ServerProgram = Pick<ServerProcess, "ended" | "startFailure" | "write" | "stop"> & {
  readonly stdout: Readable;
  readonly stderr: Readable;
};

export interface StdioTransportOptions {
  readonly start: () => Promise<ServerProgram>;
  /** Receives the first lines that are not messages. */
  readonly onRubbish: (line: string) => void;
  readonly maxFrameBytes?: number | undefined;
}

/** How long a server may take to end once its input has ended. */
const STOP_GRACE_MS = 500;
/** A program that prints this many other lines does not speak MCP. */
const MAX_RUBBISH_LINES = 10_000;
const SHOWN_RUBBISH_LINES = 1;
const STDERR_TAIL = 2000;
const LINE_FEED = 0x0a;

/**
 * A server as a child process, one line of JSON per message. Unlike the library's own transport, it
 * reads each byte only once, accepts messages of up to 64 MiB, and ends all descendants of the server.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #options: StdioTransportOptions;
  readonly #maxBytes: number;
  readonly #decoder: LineDecoder;
  #process: ServerProgram | undefined;
  #openBytes = 0;
  #rubbish = 0;
  #stderr = "";
  #failure: string | undefined;
  #isClosed = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#maxBytes = options.maxFrameBytes ?? DEFAULT_MAX_LINE_BYTES;
    this.#decoder = new LineDecoder(this.#maxBytes);
  }

  /** Why it ended, once it has, including the end of the server's output on stderr. */
  get failure(): string | undefined {
    if (this.#failure === undefined) return undefined;
    const said = this.#stderr.trim();
    return said === "" ? this.#failure : `${this.#failure}; it wrote: ${said}`;
  }

  /** Why the server never ran, once its process has ended; undefined if it ran. */
  get startFailure(): SandboxStartError | undefined {
    return this.#process?.startFailure(this.#stderr);
  }

  async start(): Promise<void> {
    const child = await this.#options.start();
    if (this.#isClosed) {
      await child.stop(0);
      throw new Error("The server is not wanted any more");
    }
    this.#process = child;
    child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stdout.on("error", () => {});
    child.stderr.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text.slice(-STDERR_TAIL)).slice(-STDERR_TAIL);
    });
    // Its last output may still be in the pipe.
    const drained = new Promise((resolve) => child.stdout.once("close", resolve));
    void child.ended.then(async (how) => {
      await Promise.race([drained, after(STOP_GRACE_MS, undefined, { ref: false })]);
      this.#finish(`it ended with ${how}`);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === undefined || this.#isClosed) throw new Error("The server has ended");
    await this.#process.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#end();
    await this.#process?.stop(STOP_GRACE_MS);
  }

  #take(chunk: Buffer): void {
    if (this.#isClosed) return;
    const end = chunk.lastIndexOf(LINE_FEED);
    this.#openBytes = end === -1 ? this.#openBytes + chunk.length : chunk.length - end - 1;
    for (const line of this.#decoder.push(chunk)) {
      if ("text" in line) this.#read(line.text);
      else this.#abandon(this.#tooLong());
      if (this.#isClosed) return;
    }
    // Otherwise an endless line would be read forever.
    if (this.#openBytes > this.#maxBytes) this.#abandon(this.#tooLong());
  }

  #tooLong(): string {
    return `it sent a message of more than ${this.#maxBytes} bytes`;
  }

  #read(line: string): void {
    const message = parse(line);
    if (message !== undefined) {
      this.onmessage?.(message);
      return;
    }
    this.#rubbish += 1;
    if (this.#rubbish <= SHOWN_RUBBISH_LINES) this.#options.onRubbish(line);
    if (this.#rubbish > MAX_RUBBISH_LINES) {
      this.#abandon("it writes to its output what is not MCP");
    }
  }

  #abandon(reason: string): void {
    this.#failure ??= reason;
    void this.close();
  }

  #finish(reason: string): void {
    this.#failure ??= reason;
    this.#end();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

function parse(line: string): JSONRPCMessage | undefined {
  const value = parseObject(line);
  return value?.jsonrpc === "2.0" ? (value as JSONRPCMessage) : undefined;
}
