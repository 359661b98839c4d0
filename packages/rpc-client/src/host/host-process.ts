import { type ChildProcess, spawn } from "node:child_process";
import { env as inheritedEnvironment } from "node:process";
import type { Readable, Writable } from "node:stream";
import { DEFAULT_MAX_LINE_BYTES, LineDecoder } from "@tau-agent/rpc-protocol";
import type { HostExit } from "../base/errors.ts";
import { TextTail } from "./text-tail.ts";

/** How long the pipes may stay open after the process has ended, because a grandchild may hold them. */
const DRAIN_MS = 500;
/** How long a process may run after closing its stdout, which is needed for all responses. */
const MUTE_MS = 1_000;
const STDERR_TAIL_CHARACTERS = 64 * 1024;

/** How to run a host process. */
export interface HostProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd?: string | undefined;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly maxFrameBytes?: number | undefined;
  /** Whether the process leads its own process group, which does not receive this group's signals. */
  readonly isDetached?: boolean | undefined;
  readonly onLine: (line: string) => void;
  /** Called with the beginning and size of each line that was too long, and with the limit. */
  readonly onSkipped: (head: string, sizeBytes: number, limitBytes: number) => void;
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** How long each step of {@link HostProcess.stop} waits before the next one. */
export interface StopOptions {
  /** From closing stdin to SIGTERM; 6 s by default, because a host has 5 s to shut down. */
  readonly graceMs?: number;
  /** From SIGTERM to SIGKILL; 2 s by default. */
  readonly killAfterMs?: number;
}

/** A host as a child process: lines in, lines out, the end of its stderr, and its exit. */
export class HostProcess {
  /** Resolves when the process has ended and its output is read, or when it could not start. */
  readonly ended: Promise<HostExit & { readonly error?: Error }>;
  readonly #child: ChildProcess;
  /** Absent, like the other pipes, if this process has run out of file descriptors. */
  readonly #stdin: Writable | null;
  readonly #stderr = new TextTail(STDERR_TAIL_CHARACTERS);
  #hasEnded = false;
  /** The number of listeners that currently delay reading. */
  #holds = 0;

  /** @throws if `spawn` throws instead of reporting the error, for example with E2BIG. */
  constructor(options: HostProcessOptions) {
    const [program, ...args] = options.command;
    const child: ChildProcess = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ? { ...inheritedEnvironment, ...options.env } : undefined,
      stdio: ["pipe", "pipe", "pipe"],
      detached: options.isDetached === true,
      windowsHide: true,
    });
    this.#child = child;
    this.#stdin = child.stdin;
    // A host that dies during a write breaks the pipe; its exit is reported anyway.
    child.stdin?.on("error", () => {});
    if (child.stdout) this.#readLines(child.stdout, options);
    if (child.stderr) this.#readStderr(child.stderr, options.onStderr);
    this.ended = this.#watch();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get exitCode(): number | undefined {
    // If the program could not be started, this is the system's error number.
    return this.pid === undefined ? undefined : (this.#child.exitCode ?? undefined);
  }

  get stderr(): string {
    return this.#stderr.toString();
  }

  write(text: string): void {
    if (this.#stdin?.writable) this.#stdin.write(text);
  }

  /** Stops reading until this has settled; the host waits once the pipe is full. */
  pauseUntil(hold: Promise<unknown>): void {
    this.#holds += 1;
    if (this.#child.exitCode === null) this.#child.stdout?.pause();
    const release = (): void => {
      this.#holds -= 1;
      if (this.#holds === 0) this.#child.stdout?.resume();
    };
    hold.then(release, release);
  }

  /** Ends the host: closes its stdin, then sends SIGTERM, then SIGKILL. Resolves when the process has ended. */
  async stop(options: StopOptions = {}): Promise<HostExit> {
    this.#stdin?.end();
    if (!(await this.#endsWithin(options.graceMs ?? 6_000))) {
      this.#child.kill("SIGTERM");
      if (!(await this.#endsWithin(options.killAfterMs ?? 2_000))) this.#child.kill("SIGKILL");
    }
    const { exitCode, signal, stderr } = await this.ended;
    return { exitCode, signal, stderr };
  }

  async #endsWithin(timeoutMs: number): Promise<boolean> {
    if (this.#hasEnded) return true;
    const timeout = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => timeout.resolve(false), timeoutMs);
    try {
      return await Promise.race([timeout.promise, this.ended.then(() => true)]);
    } finally {
      clearTimeout(timer);
    }
  }

  #readLines(stdout: Readable, options: HostProcessOptions): void {
    const limitBytes = options.maxFrameBytes ?? DEFAULT_MAX_LINE_BYTES;
    const decoder = new LineDecoder(limitBytes);
    const deliver = (lines: ReturnType<LineDecoder["push"]>) => {
      for (const line of lines) {
        if ("text" in line) {
          options.onLine(line.text);
          continue;
        }
        this.note(`a frame of ${line.oversizedBytes} bytes was skipped (maxFrameBytes)`);
        options.onSkipped(line.head, line.oversizedBytes, limitBytes);
      }
    };
    stdout.on("data", (chunk: Buffer) => deliver(decoder.push(chunk)));
    stdout.on("end", () => {
      deliver(decoder.end());
      void this.#endWhenMute();
    });
    stdout.on("error", () => {});
  }

  /**
   * A host that closed its stdout cannot answer any more, so it is ended early, unless it is already being
   * stopped and uses the time given for that.
   */
  async #endWhenMute(): Promise<void> {
    if ((await this.#endsWithin(MUTE_MS)) || this.#stdin?.writableEnded) return;
    this.note("the host closed its stdout and was ended");
    await this.stop({ graceMs: MUTE_MS });
  }

  /** Appends a note of the client to the host's stderr. */
  note(text: string): void {
    this.#stderr.append(`[client] ${text}\n`);
  }

  #readStderr(stderr: Readable, onStderr: ((text: string) => void) | undefined): void {
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#stderr.append(text);
      onStderr?.(text);
    });
    stderr.on("error", () => {});
  }

  #watch(): HostProcess["ended"] {
    const child = this.#child;
    const { promise, resolve } = Promise.withResolvers<HostExit & { readonly error?: Error }>();
    let drain: NodeJS.Timeout | undefined;
    const finish = (error?: Error) => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      clearTimeout(drain);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      resolve({
        exitCode: this.exitCode,
        signal: child.signalCode ?? undefined,
        stderr: this.stderr,
        ...(error && { error }),
      });
    };
    child.once("exit", () => {
      // Reads the last output even while a listener delays reading.
      child.stdout?.resume();
      drain = setTimeout(() => finish(), DRAIN_MS);
    });
    child.once("close", () => finish());
    child.on("error", (error) => {
      // Also emitted when a signal could not be sent; only a failed start is final.
      if (child.pid === undefined) finish(error);
    });
    return promise;
  }
}
