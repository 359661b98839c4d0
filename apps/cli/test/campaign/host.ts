import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encodeLine, LineDecoder, parseObject } from "@tau-agent/rpc-protocol/plain";
import { attempt, randomHex } from "@tau-agent/system";

type Frame = Readonly<Record<string, unknown>>;

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export const binPath = `${root}/apps/cli/bin/tau.js`;

export interface HostOptions {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The command that starts the host, unless it is started directly. */
  readonly prefix?: readonly string[];
  /** The mechanism to disable in this host. */
  readonly mutant?: string | undefined;
  /** The change before which the host stops itself, such as `file 2`. */
  readonly stopAt?: string | undefined;
}

/** Only a hanging host takes longer, even on a busy machine. */
const limitMs = 300_000;

/** A host that will be killed or paused. */
export class Host {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  hasEnded = false;
  /** A fault was applied; later output of the host no longer counts. */
  isHarmed = false;
  stderr = "";
  readonly #listeners = new Set<(frame: Frame) => void>();

  constructor({ words, cwd, variables, prefix = [], mutant, stopAt }: HostOptions) {
    const hook = fileURLToPath(new URL("./mutate.ts", import.meta.url));
    const program =
      mutant === undefined && stopAt === undefined ? [binPath] : ["--import", hook, binPath];
    const [file = "", ...args] = [
      ...prefix,
      process.execPath,
      ...program,
      "--mode",
      "rpc",
      ...words,
    ];
    this.child = spawn(file, args, {
      cwd: prefix.length === 0 ? cwd : "/",
      env: {
        ...variables,
        ...{ TAU_CAMPAIGN_MUTANT: mutant, TAU_CAMPAIGN_STOP_AT: stopAt },
        ...(program.length > 1 && { NODE_DISABLE_COMPILE_CACHE: "1" }),
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.ended = new Promise((resolve) =>
      this.child.once("exit", () => {
        this.hasEnded = true;
        resolve();
      }),
    );
    this.child.stdin?.on("error", () => {});
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    const decoder = new LineDecoder();
    this.child.stdout?.on("data", (chunk: Buffer) => {
      for (const line of decoder.push(chunk)) {
        const frame = "text" in line ? parseObject(line.text) : undefined;
        if (frame !== undefined) for (const listener of [...this.#listeners]) listener(frame);
      }
    });
  }

  send(frame: Frame): void {
    this.child.stdin?.write(encodeLine(frame));
  }

  /** Answers frames, each after a delay. */
  answer(answerOf: (frame: Frame) => { frame: Frame; afterMs: number } | undefined): void {
    this.#listeners.add((frame) => {
      const answer = answerOf(frame);
      if (answer === undefined) return;
      const { sessionId } = frame;
      setTimeout(() => this.send({ ...answer.frame, sessionId }), answer.afterMs);
    });
  }

  /** Sends a command; returns its response, or undefined if the host ends first. */
  async request(command: Frame): Promise<Frame | undefined> {
    const id = randomHex(4);
    const answered = this.until((frame) => frame.type === "response" && frame.id === id, limitMs);
    this.send({ ...command, id });
    return answered;
  }

  /** Opens a session; undefined if the host does not get it. */
  async open(opening: Frame): Promise<HostedSession | undefined> {
    const response = await this.request({ type: "open_session", ...opening });
    if (response?.success !== true) return undefined;
    const { sessionId } = response.data as { readonly sessionId: string };
    return new HostedSession(this, sessionId);
  }

  /** Ends the host in order, or by force if that fails. */
  async end(): Promise<void> {
    this.child.stdin?.end();
    const timer = setTimeout(() => this.signal("SIGKILL"), 15_000);
    await this.ended;
    clearTimeout(timer);
  }

  /** The first matching frame; undefined if the host ends or the time runs out. */
  until(fits: (frame: Frame) => boolean, limitMs: number): Promise<Frame | undefined> {
    return new Promise((resolve) => {
      const finish = (frame?: Frame): void => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve(frame);
      };
      const listener = (frame: Frame): void => {
        if (fits(frame)) finish(frame);
      };
      const timer = setTimeout(finish, limitMs);
      this.#listeners.add(listener);
      void this.ended.then(() => finish());
    });
  }

  get isStopped(): boolean {
    const stat = attempt(() => readFileSync(`/proc/${this.child.pid}/stat`, "utf8")) ?? "";
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  }

  harm(name: NodeJS.Signals): void {
    this.isHarmed = true;
    this.signal(name);
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }
}

/** A session of a host: its only one, or the one with this handle. */
export class HostedSession {
  readonly host: Host;
  readonly #sessionId: string | undefined;
  #isClosed = false;

  constructor(host: Host, sessionId?: string) {
    this.host = host;
    this.#sessionId = sessionId;
    if (sessionId === undefined) return;
    void this.#first(({ type }) => type === "session_closed", 3_600_000).then(() => {
      this.#isClosed = true;
    });
  }

  get hasEnded(): boolean {
    return this.#isClosed || this.host.hasEnded;
  }

  send(frame: Frame): void {
    this.host.send({ ...frame, sessionId: this.#sessionId });
  }

  request(command: Frame): Promise<Frame | undefined> {
    return this.host.request({ ...command, sessionId: this.#sessionId });
  }

  /** The first matching frame of the session; undefined if it ends or the time runs out. */
  async until(fits: (frame: Frame) => boolean, ms = limitMs): Promise<Frame | undefined> {
    const found = await this.#first((frame) => frame.type === "session_closed" || fits(frame), ms);
    return found?.type === "session_closed" ? undefined : found;
  }

  /** Closes the session, or ends the host if this is its only session. */
  async close(): Promise<void> {
    if (this.#sessionId === undefined) return this.host.end();
    const isClosed = this.hasEnded || (await this.request({ type: "close_session" })) !== undefined;
    if (!isClosed && !this.hasEnded) throw new Error("A session does not end");
  }

  #first(fits: (frame: Frame) => boolean, ms: number): Promise<Frame | undefined> {
    return this.host.until((frame) => frame.sessionId === this.#sessionId && fits(frame), ms);
  }
}
