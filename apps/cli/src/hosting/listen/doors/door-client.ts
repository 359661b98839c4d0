import type { ResponseFrame } from "@tau-agent/rpc-protocol";
import { Client } from "../../clients/client.ts";
import type { ClientSetup } from "../../clients/client-options.ts";

export type DoorFrame = { readonly type: string } & Readonly<Record<string, unknown>>;

/**
 * The requests that pages can answer through a door. Pages are not asked for keys, and their tools run in the client.
 */
const answeredMethods = [
  "tool_approval",
  "dialog",
  "question",
  "budget",
  "elicitation",
  "open_url",
] as const;

export interface DoorSink {
  /** Whether the reader has accepted everything written. */
  readonly isDrained: boolean;
  onDrain(listener: () => void): void;
  take(frame: DoorFrame): void;
}

/** An in-process client of one session that sends commands and receives frames as objects. */
export class DoorClient {
  readonly #client: Client;
  readonly #tag: { readonly sessionId?: string };
  readonly #waiting = new Map<string, (frame: ResponseFrame) => void>();
  #requests = 0;
  #isClosed = false;

  constructor(sessionId: string, setup: ClientSetup, sink: DoorSink) {
    this.#tag = setup.pool.solo === undefined ? { sessionId } : {};
    this.#client = new Client({
      ...setup,
      writer: {
        get isDrained() {
          return sink.isDrained;
        },
        onDrain: (listener) => sink.onDrain(listener),
        whenDrained: () => undefined,
        write: (line) => {
          const text = typeof line === "string" ? line : line.map(textOf).join("");
          this.#take(JSON.parse(text) as DoorFrame, sink);
        },
      },
    });
    const capabilities = { hostRequests: answeredMethods };
    void this.request("initialize", { protocol: "pi", stream: "delta", capabilities }, {});
  }

  /** Sends a command and resolves to its response, even a refusal or when the client is closed. */
  request(type: string, params: object, tag: object = this.#tag): Promise<ResponseFrame> {
    if (this.#isClosed) return Promise.resolve(closed);
    this.#requests += 1;
    const id = `door-${this.#requests}`;
    const answer = new Promise<ResponseFrame>((resolve) => this.#waiting.set(id, resolve));
    this.#client.push(JSON.stringify({ ...params, ...tag, type, id }));
    return answer;
  }

  /** Sends an answer to a request; it has no response. */
  answer(frame: object): void {
    this.#client.push(JSON.stringify({ ...frame, ...this.#tag }));
  }

  /** Closes the client; the session continues. */
  close(): void {
    this.#isClosed = true;
    this.#client.close();
    for (const resolve of this.#waiting.values()) resolve(closed);
    this.#waiting.clear();
  }

  #take(frame: DoorFrame, sink: DoorSink): void {
    if (frame.type !== "response") {
      sink.take(frame);
      return;
    }
    const waiting = this.#waiting.get(String(frame.id));
    this.#waiting.delete(String(frame.id));
    waiting?.(frame as unknown as ResponseFrame);
  }
}

const closed = {
  type: "response",
  command: "",
  success: false,
  error: "The client has left",
} as const satisfies Partial<ResponseFrame> as ResponseFrame;

function textOf(piece: string | Uint8Array): string {
  return typeof piece === "string" ? piece : Buffer.from(piece).toString();
}
