import { type CommandName, commands, type Params, type Result } from "@tau-agent/rpc-protocol";
import type { IsolatedSession } from "../sessions/isolated-session.ts";
import type { ClientOptions } from "./client-options.ts";
import { IsolatedLine } from "./isolated-line.ts";

/** A client's ways to the sessions that have processes of their own. */
export class IsolatedLines {
  readonly #options: Pick<ClientOptions, "pool" | "writer" | "isOneShot">;
  readonly #lines = new Map<string, IsolatedLine>();
  /** What the client said with `initialize`. */
  #asked: Params<"initialize"> | undefined;
  #isClosed = false;

  constructor(options: Pick<ClientOptions, "pool" | "writer" | "isOneShot">) {
    this.#options = options;
    if (options.isOneShot) this.#asked = {};
  }

  /** Takes note of what the client asks for, and tells the processes. */
  initialize(asked: Params<"initialize">): void {
    this.#asked = { ...this.#asked, ...asked };
    for (const line of this.#lines.values()) line.initialize(asked);
  }

  /** Passes a line to the process of its session, if it has one. */
  push(line: string): boolean {
    const { pool } = this.#options;
    if (!pool.isIsolating) return false;
    const head = headOf(line);
    if (typeof head.sessionId !== "string" || isOfHost(head.type)) return false;
    const session = pool.isolated(head.sessionId);
    if (session === undefined || session.isClosing) return false;
    this.#lineTo(session).send(line, head);
    return true;
  }

  /** Opens a session; `answer` gets what its process says of it, before its first frame. */
  async open(
    params: Params<"open_session">,
    answer: (opened: Result<"open_session">) => void,
  ): Promise<void> {
    const { pool, isOneShot } = this.#options;
    const { isolated, opened } = await pool.openIsolated(params);
    answer(opened);
    if (!isOneShot && !this.#isClosed) this.#lineTo(isolated).listen();
  }

  /** Fulfilled once every command is answered. */
  async settled(): Promise<void> {
    await Promise.all([...this.#lines.values()].map((line) => line.settled()));
  }

  /** The client is gone. */
  close(): void {
    this.#isClosed = true;
    for (const line of this.#lines.values()) line.close();
    this.#lines.clear();
  }

  #lineTo(session: IsolatedSession): IsolatedLine {
    const { sessionId } = session;
    const known = this.#lines.get(sessionId);
    if (known !== undefined) return known;
    const onEnd = () => void this.#lines.delete(sessionId);
    const line = new IsolatedLine(session, this.#options.writer, onEnd);
    if (this.#asked !== undefined) line.initialize(this.#asked);
    this.#lines.set(sessionId, line);
    return line;
  }
}

function isOfHost(type: unknown): boolean {
  return Object.hasOwn(commands, String(type)) && commands[type as CommandName].scope === "host";
}

function headOf(line: string): { sessionId?: unknown; type?: unknown; id?: unknown } {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}
