import { createConnection } from "node:net";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { onTestFinished } from "vitest";
import { recordClientLine, recordFrames } from "../recording/record-host.ts";
import type { Frame } from "./test-client.ts";

/** A connection that carries lines to a host. */
interface Wire {
  send(line: string): void;
  close(): void;
}

/** A client of a listening host that keeps every frame it receives. */
export class FrameClient {
  readonly frames: Frame[] = [];
  /** Set when the connection has ended; for a WebSocket, the close code. */
  closedWith: number | undefined;
  #wire: Wire | undefined;
  #nextId = 1;
  readonly #waiting = new Set<() => void>();

  /** Connects to `unix:<path>` or `ws://…`; closed when the test ends. */
  static async connect(url: string, token?: string): Promise<FrameClient> {
    const client = new FrameClient();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (url.startsWith("unix:")) {
      const socket = createConnection(url.slice("unix:".length), resolve);
      const lines = new LineDecoder();
      socket.on("data", (chunk) => {
        for (const line of lines.push(chunk)) if ("text" in line) client.#receive(line.text);
      });
      socket.on("error", reject);
      socket.on("close", () => client.#close(0));
      client.#wire = {
        send: (line) => void socket.write(`${line}\n`),
        close: () => void socket.destroy(),
      };
    } else {
      const socket = new WebSocket(
        `${url}/rpc`,
        token === undefined ? [] : [`tau.bearer.${token}`],
      );
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error(`no WebSocket at ${url}`));
      socket.onmessage = ({ data }) => client.#receive(String(data));
      socket.onclose = ({ code }) => client.#close(code);
      client.#wire = { send: (line) => socket.send(line), close: () => socket.close() };
    }
    await promise;
    onTestFinished(() => client.close());
    return client;
  }

  close(): void {
    this.#wire?.close();
  }

  /** Sends a frame without waiting for an answer. */
  send(frame: object): void {
    const line = JSON.stringify(frame);
    recordClientLine(line);
    this.#wire?.send(line);
  }

  /** Sends a command and returns its response. */
  async ask(command: object): Promise<Frame> {
    const id = `q${this.#nextId}`;
    this.#nextId += 1;
    this.send({ id, ...command });
    return this.until((frame) => frame.type === "response" && frame.id === id);
  }

  /** Opens a session and returns its handle. */
  async open(params: object = {}): Promise<string> {
    const { data } = await this.ask({ type: "open_session", ...params });
    return (data as { sessionId: string }).sessionId;
  }

  /** The first matching frame, starting at the given index of `frames`. */
  async until(fits: (frame: Frame) => boolean, from = 0): Promise<Frame> {
    for (let at = from; ; at += 1) {
      while (at >= this.frames.length) await this.#next();
      const frame = this.frames[at];
      if (frame !== undefined && fits(frame)) return frame;
    }
  }

  /** Resolves when the host has closed the connection. */
  async ended(): Promise<void> {
    while (this.closedWith === undefined) await this.#next(true);
  }

  async #next(isEndFine = false): Promise<void> {
    if (this.closedWith !== undefined) {
      if (isEndFine) return;
      throw new Error("the connection has ended");
    }
    await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #receive(line: string): void {
    recordFrames([`${line}\n`]);
    this.frames.push(JSON.parse(line));
    this.#wake();
  }

  #close(code: number): void {
    this.closedWith = code;
    this.#wake();
  }

  #wake(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }
}
