import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { now } from "./clock.ts";
import { cpuMicroseconds, peakMib, proportionalMib, residentMib } from "./process-usage.ts";

const updatePrefix = Buffer.from('{"type":"message_update"');

interface Waiter {
  readonly matches: (frame: Frame) => boolean;
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
}

export type Frame = Record<string, unknown>;

/**
 * A child process that speaks lines of JSON. Lines of streamed text are counted but not parsed, so
 * that the benchmark does not become the slow reader its subject waits for.
 */
export class Child {
  stdoutBytes = 0;
  /** The number of frames of streamed text. */
  updates = 0;
  /** When the last frame that was parsed had arrived completely. */
  lastFrameAt = 0;
  /** Gets each frame of streamed text. */
  onUpdate: ((line: Buffer) => void) | undefined;
  readonly #process: ChildProcess;
  readonly #stdin: Writable;
  readonly #waiters = new Set<Waiter>();
  #deltaWaiter: ((at: number) => void) | undefined;
  #pieces: Buffer[] = [];
  #stderr = "";

  constructor(command: readonly [string, ...string[]], options: { cwd: string; env: Environment }) {
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#process = child;
    this.#stdin = child.stdin;
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-4_000);
    });
    child.on("error", (error) => this.#fail(error));
    child.on("exit", (code, signal) => {
      this.#fail(new Error(`${command.join(" ")} ended with ${code ?? signal}: ${this.#stderr}`));
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  cpuMicroseconds(): number {
    return cpuMicroseconds(this.pid);
  }

  residentMib(): number {
    return residentMib(this.pid);
  }

  peakMib(): number {
    return peakMib(this.pid);
  }

  proportionalMib(): number {
    return proportionalMib(this.pid);
  }

  /** When the next frame with streamed text arrives. */
  nextDelta(): Promise<number> {
    return new Promise((resolve) => {
      this.#deltaWaiter = resolve;
    });
  }

  pause(): void {
    this.#process.stdout?.pause();
  }

  resume(): void {
    this.#process.stdout?.resume();
  }

  write(text: string): void {
    this.#stdin.write(text);
  }

  send(frame: Frame): void {
    this.#stdin.write(`${JSON.stringify(frame)}\n`);
  }

  next(matches: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      this.#waiters.add({ matches, resolve, reject });
    });
  }

  /** Sends a command and returns the data of its response. */
  async request(type: string, fields: Frame = {}): Promise<unknown> {
    const answer = this.next((frame) => frame.type === "response" && frame.command === type);
    this.send({ id: "bench", type, ...fields });
    const { success, error, data } = await answer;
    if (success !== true) throw new Error(`${type}: ${String(error)}`);
    return data;
  }

  /** Closes the child's stdin and waits for its exit. */
  async stop(): Promise<void> {
    for (const waiter of this.#waiters) waiter.reject(new Error("stopped"));
    this.#waiters.clear();
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const exit = once(this.#process, "exit");
    this.#stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 8_000);
    await exit;
    clearTimeout(timer);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #read(chunk: Buffer): void {
    this.stdoutBytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#pieces.push(chunk.subarray(start, end));
      this.#take(Buffer.concat(this.#pieces));
      this.#pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  #take(line: Buffer): void {
    if (line.subarray(0, updatePrefix.length).equals(updatePrefix)) {
      this.updates += 1;
      this.onUpdate?.(line);
      if (this.#deltaWaiter && line.includes('"delta":"')) {
        this.#deltaWaiter(now());
        this.#deltaWaiter = undefined;
      }
      return;
    }
    this.lastFrameAt = now();
    const frame = JSON.parse(line.toString()) as Frame;
    for (const waiter of [...this.#waiters]) {
      if (!waiter.matches(frame)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(frame);
    }
  }

  #fail(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }
}

/** The environment of a child. */
export type Environment = Readonly<Record<string, string | undefined>>;
