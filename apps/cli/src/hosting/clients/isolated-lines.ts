import { type CommandName, commands, type Params, type Result } from "@tau-agent/rpc-protocol";
import { attempt } from "@tau-agent/system";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { AfterAnswer } from "../../rpc/handlers/contexts.ts";
import type { IsolatedSession } from "../sessions/isolated-session.ts";
import type { SessionPool } from "../sessions/session-pool.ts";
import { IsolatedLine } from "./isolated-line.ts";

export interface IsolatedLinesOptions {
  readonly pool: SessionPool;
  readonly writer: LineWriter;
  readonly isOneShot?: boolean;
}

export class IsolatedLines {
  readonly #options: IsolatedLinesOptions;
  readonly #lines = new Map<string, IsolatedLine>();
  /** The parameters of the client's `initialize`. */
  #asked: Params<"initialize"> | undefined;
  #isClosed = false;

  constructor(options: IsolatedLinesOptions) {
    this.#options = options;
    if (options.isOneShot) this.#asked = {};
  }

  initialize(asked: Params<"initialize">): void {
    this.#asked = { ...this.#asked, ...asked };
    for (const line of this.#lines.values()) line.initialize(asked);
  }

  /** Passes a line to the process of its session, if the session has one. */
  push(line: string): boolean {
    const { pool } = this.#options;
    const head = headOf(line);
    if (/^workspace_(?:result|output)$/.test(String(head.type)))
      return this.#takeAnswer(line, head);
    if (typeof head.sessionId !== "string" || isOfHost(head.type)) return false;
    const session = pool.isolated(head.sessionId);
    if (session === undefined || session.isClosing) return false;
    this.#lineTo(session).send(line, head);
    return true;
  }

  /** Opens a session; its frames follow the answer. */
  async open(
    params: Params<"open_session">,
    afterAnswer: AfterAnswer,
  ): Promise<Result<"open_session">> {
    const { pool, isOneShot } = this.#options;
    let line: IsolatedLine | undefined;
    const { opened } = await pool.openIsolated(params, (session) => {
      line = this.#lineTo(session);
      return line.open(params);
    });
    if (isOneShot || this.#isClosed) line?.close();
    else afterAnswer(() => line?.goOn());
    return opened;
  }

  /** Sends the answer to a workspace call to the session that made the call. */
  #takeAnswer(line: string, { id }: { readonly id?: unknown }): boolean {
    return [...this.#lines.values()].some((each) => each.takeAnswer(line, id));
  }

  /** Resolves once every command is answered. */
  async settled(): Promise<void> {
    await Promise.all([...this.#lines.values()].map((line) => line.settled()));
  }

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
  return attempt(() => Object(JSON.parse(line))) ?? {};
}
