import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ErrorCode,
  type HostedSessionInfo,
  LineDecoder,
  ProtocolError,
  type Result,
} from "@tau-agent/rpc-protocol";
import { SESSION_HANDLE } from "../../process/environment.ts";
import { type LineSocket, openLineSocket } from "./line-socket.ts";
import { RemoteError } from "./remote-error.ts";

export interface IsolatedSessionOptions {
  readonly sessionId: string;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly onEnd: () => void;
}

export interface OpenedIsolated {
  readonly isolated: IsolatedSession;
  readonly opened: Result<"open_session">;
}

/** A host's response to a command. */
export interface Answer {
  readonly success: boolean;
  readonly data?: unknown;
  readonly error?: string;
  readonly code?: ErrorCode;
}

/** A session in its own process, served on a socket whose path only this process knows. */
export class IsolatedSession {
  readonly sessionId: string;
  readonly path: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  readonly #ended = Promise.withResolvers<void>();
  #control: LineSocket | undefined;
  #lastId = 0;
  #info: HostedSessionInfo | undefined;
  isClosing = false;
  /** This host ended the process itself, so clients need no error about its end. */
  hasBeenEnded = false;

  private constructor({ sessionId, command, variables, onEnd }: IsolatedSessionOptions) {
    this.sessionId = sessionId;
    this.#folder = mkdtempSync(join(tmpdir(), "tau-session-"));
    this.path = join(this.#folder, "session.sock");
    const [program = "", ...words] = command;
    this.#child = spawn(program, [...words, "--listen", `unix:${this.path}`], {
      env: { ...variables, [SESSION_HANDLE]: sessionId },
      // The process ends when its input ends, even if this process is killed.
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdin?.on("error", () => {});
    const end = (): void => {
      rmSync(this.#folder, { recursive: true, force: true });
      const error = "The process of the session has ended";
      for (const answer of this.#pending.values()) answer({ success: false, error });
      this.#pending.clear();
      this.#ended.resolve();
      onEnd();
    };
    this.#child.once("error", end);
    this.#child.once("exit", end);
  }

  /**
   * Starts the process and opens the session in it through the client's connection, because the session may
   * use that client's credentials and workspace.
   *
   * @throws {RemoteError} as the session's host says
   */
  static async open(
    options: IsolatedSessionOptions,
    openIn: (isolated: IsolatedSession) => Promise<Result<"open_session">>,
  ): Promise<OpenedIsolated> {
    const isolated = new IsolatedSession(options);
    try {
      await isolated.#listening();
      isolated.#connect();
      await isolated.ask({ type: "initialize", events: [] });
      const opened = await openIn(isolated);
      await isolated.refresh();
      return { isolated, opened };
    } catch (error) {
      await isolated.end();
      throw error;
    }
  }

  /** What the session was doing at the last request for its state. */
  get info(): HostedSessionInfo | undefined {
    return this.#info && { ...this.#info, ...(this.isClosing && { status: "closing" as const }) };
  }

  async refresh(): Promise<HostedSessionInfo | undefined> {
    const data = await this.ask({ type: "list_sessions" }).catch(() => undefined);
    [this.#info] = (data as { sessions: HostedSessionInfo[] } | undefined)?.sessions ?? [];
    return this.info;
  }

  ask(command: object): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, ({ success, data, error = "", code = "internal" }) => {
        if (success) resolve(data);
        else reject(new RemoteError(code, error));
      });
      this.#control?.send(JSON.stringify({ ...command, id }));
    });
  }

  async end(): Promise<void> {
    this.isClosing = true;
    this.hasBeenEnded = true;
    this.#control?.close();
    this.#child.stdin?.end();
    await this.#ended.promise;
  }

  #connect(): void {
    this.#control = openLineSocket(
      this.path,
      (line) => {
        const frame: Answer & { type: string; id?: number } = JSON.parse(line);
        if (frame.type !== "response" || frame.id === undefined) return;
        this.#pending.get(frame.id)?.(frame);
        this.#pending.delete(frame.id);
      },
      () => {},
    );
  }

  async #listening(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const lines = new LineDecoder();
    this.#child.stdout?.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) if ("text" in line) resolve();
    });
    const failed = this.#ended.promise.then(() => {
      const reason = "the process of the session did not start";
      throw new ProtocolError("internal", { reason });
    });
    await Promise.race([promise, failed]);
  }
}
