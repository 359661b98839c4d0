import { encodeLine, errorText, type Params, type Result } from "@tau-agent/rpc-protocol";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { Answer, IsolatedSession } from "../sessions/isolated-session.ts";
import { type LineSocket, openLineSocket } from "../sessions/line-socket.ts";
import { RemoteError } from "../sessions/remote-error.ts";

/** Prefix of the ids of commands that this host sends itself; their answers do not go to the client. */
const OWN = "tau:";

/** A workspace call or its cancellation, in the form that this program writes. */
const workspaceCall = /^\{"type":"workspace_(?:call|cancel)","id":"([^"\\]+)"/;

/** The greeting of some dialects. The client has already received one from this host. */
const greeting = /^\{"type":"ready"[,}]/;

/** The prefix that the ids of all calls of a workspace share on one connection. */
function workspaceOf(id: unknown): string {
  return String(id).split(":", 1)[0] ?? "";
}

/** One client's connection to a session in another process: lines pass through unchanged. */
export class IsolatedLine {
  readonly #socket: LineSocket;
  readonly #session: IsolatedSession;
  readonly #writer: LineWriter;
  readonly #open = new Map<unknown, string>();
  readonly #settled: (() => void)[] = [];
  /** The id prefixes of the calls that the session makes to the client's workspace. */
  readonly #workspaces = new Set<string>();
  #opening: PromiseWithResolvers<Result<"open_session">> | undefined;
  /** Frames held back until the answer to `open_session` is sent; undefined once a session is open. */
  #held: string[] | undefined;
  #hasEnded = false;
  /** The client knows that the session is closed. */
  #isOver = false;

  /** `onEnd` is called when the session is closed or its process has ended. */
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

  /** Makes the session's host use the dialect and settings that this host uses for the client. */
  initialize(params: object): void {
    this.#socket.send(JSON.stringify({ ...params, type: "initialize", id: `${OWN}initialize` }));
  }

  /**
   * Opens the session that the line describes. Its frames wait for {@link goOn}; its calls to the client's
   * workspace do not, because opening the session may need them.
   *
   * @throws {RemoteError} as the session's host says
   */
  open(params: Params<"open_session">): Promise<Result<"open_session">> {
    this.#held = [];
    this.#opening = Promise.withResolvers();
    this.#socket.send(JSON.stringify({ ...params, type: "open_session", id: `${OWN}open` }));
    return this.#opening.promise;
  }

  /** The client has received the answer to `open_session`. */
  goOn(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) void this.#writer.write(line);
  }

  send(line: string, { id, type }: { readonly id?: unknown; readonly type?: unknown }): void {
    const isAnswer = /^(host_|extension_ui_)/.test(String(type));
    if (!isAnswer) this.#open.set(id, String(type));
    this.#socket.send(line);
  }

  /** Takes a line that answers a workspace call; returns false if this session did not make the call. */
  takeAnswer(line: string, id: unknown): boolean {
    if (!this.#workspaces.has(workspaceOf(id))) return false;
    this.#socket.send(line);
    return true;
  }

  async settled(): Promise<void> {
    if (this.#open.size === 0 || this.#hasEnded) return;
    await new Promise<void>((resolve) => this.#settled.push(resolve));
  }

  close(): void {
    this.#hasEnded = true;
    const reason = "its client has gone";
    this.#opening?.reject(new RemoteError("internal", errorText("internal", { reason })));
    this.#socket.close();
  }

  #receive(line: string): void {
    if (greeting.test(line)) return;
    const [, call] = workspaceCall.exec(line) ?? [];
    if (call !== undefined) {
      this.#workspaces.add(workspaceOf(call));
      void this.#writer.write(`${line}\n`, true);
      return;
    }
    const isOfInterest = /"type":"(response|session_closed)"/.test(line);
    const frame = isOfInterest ? JSON.parse(line) : undefined;
    const isAnswer = frame?.type === "response";
    if (isAnswer) {
      if (frame.id === `${OWN}open`) this.#takeOpened(frame);
      if (typeof frame.id === "string" && frame.id.startsWith(OWN)) return;
      this.#open.delete(frame.id);
    }
    const isClosed = isAnswer && frame.command === "close_session" && frame.success;
    if (isClosed || frame?.type === "session_closed") {
      this.#isOver = true;
      this.#session.isClosing = true;
    }
    this.#pass(`${line}\n`, isAnswer);
    this.#settle();
  }

  #pass(line: string, isAnswer = false): void {
    if (this.#held === undefined) void this.#writer.write(line, isAnswer);
    else this.#held.push(line);
  }

  #takeOpened({ success, data, error = "", code = "internal" }: Answer): void {
    if (success) this.#opening?.resolve(data as Result<"open_session">);
    else this.#opening?.reject(new RemoteError(code, error));
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#session.isClosing = true;
    const { sessionId } = this.#session;
    const error = errorText("internal", { reason: "the process of the session has ended" });
    this.#opening?.reject(new RemoteError("internal", error));
    for (const [id, command] of this.#open) {
      const head = { ...(id === undefined ? {} : { id }), type: "response", command };
      const failure = { ...head, success: false, error, code: "internal", sessionId };
      this.#pass(encodeLine(failure), true);
    }
    this.#open.clear();
    if (!this.#isOver && !this.#session.hasBeenEnded) {
      this.#pass(encodeLine({ type: "session_closed", sessionId, reason: "error" }));
    }
    this.#settle();
  }

  #settle(): void {
    if (this.#open.size > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}
