import { encodeLine, errorText } from "@tau-agent/rpc-protocol";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { IsolatedSession } from "../sessions/isolated-session.ts";
import { type LineSocket, openLineSocket } from "../sessions/line-socket.ts";

/** What ids of own commands begin with: their answers are not the client's. */
const OWN = "tau:";

/** One client's way to a session in a process of its own: lines pass through as they are. */
export class IsolatedLine {
  readonly #socket: LineSocket;
  readonly #session: IsolatedSession;
  readonly #writer: LineWriter;
  readonly #open = new Map<unknown, string>();
  readonly #settled: (() => void)[] = [];
  #hasEnded = false;
  /** The frame `live` of the line's own attach is still to come. */
  #isListening = false;
  /** The client knows that the session is closed. */
  #isOver = false;

  /** `onEnd` is called when the session is closed, or its process has ended. */
  constructor(session: IsolatedSession, writer: LineWriter, onEnd: () => void) {
    this.#session = session;
    this.#writer = writer;
    this.#socket = openLineSocket(
      session.path,
      (line) => this.#receive(line),
      () => {
        this.#end();
        onEnd();
      },
    );
  }

  /** Has the session's host speak to this client as this one does. */
  initialize(params: object): void {
    this.#socket.send(JSON.stringify({ ...params, type: "initialize", id: `${OWN}initialize` }));
  }

  listen(): void {
    this.#isListening = true;
    const { sessionId } = this.#session;
    this.#socket.send(JSON.stringify({ type: "attach", id: `${OWN}attach`, sessionId }));
  }

  send(line: string, { id, type }: { readonly id?: unknown; readonly type?: unknown }): void {
    const isAnswer = /^(host_|extension_ui_)/.test(String(type));
    if (!isAnswer) this.#open.set(id, String(type));
    this.#socket.send(line);
  }

  async settled(): Promise<void> {
    if (this.#open.size === 0 || this.#hasEnded) return;
    await new Promise<void>((resolve) => this.#settled.push(resolve));
  }

  close(): void {
    this.#hasEnded = true;
    this.#socket.close();
  }

  #receive(line: string): void {
    const isOfInterest = /"type":"(response|session_closed|live)"/.test(line);
    const frame = isOfInterest ? JSON.parse(line) : undefined;
    const isAnswer = frame?.type === "response";
    if (isAnswer) {
      if (typeof frame.id === "string" && frame.id.startsWith(OWN)) return;
      this.#open.delete(frame.id);
    }
    if (frame?.type === "live" && this.#isListening) {
      // The client has not asked for it.
      this.#isListening = false;
      return;
    }
    const isClosed = isAnswer && frame.command === "close_session" && frame.success;
    if (isClosed || frame?.type === "session_closed") {
      this.#isOver = true;
      this.#session.isClosing = true;
    }
    void this.#writer.write(`${line}\n`, isAnswer);
    this.#settle();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#session.isClosing = true;
    const { sessionId } = this.#session;
    const error = errorText("internal", { reason: "the process of the session has ended" });
    for (const [id, command] of this.#open) {
      const head = { ...(id === undefined ? {} : { id }), type: "response", command };
      const failure = { ...head, success: false, error, code: "internal", sessionId };
      void this.#writer.write(encodeLine(failure), true);
    }
    this.#open.clear();
    if (!this.#isOver) {
      void this.#writer.write(encodeLine({ type: "session_closed", sessionId, reason: "error" }));
    }
    this.#settle();
  }

  #settle(): void {
    if (this.#open.size > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}
