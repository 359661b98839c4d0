import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { type Frame, FrameReceiver } from "./frame-receiver.ts";
import { cpuMicroseconds, peakMib, proportionalMib, residentMib } from "./process-usage.ts";

/** A child process that speaks lines of JSON. */
export class Child extends FrameReceiver {
  stdoutBytes = 0;
  readonly #process: ChildProcess;
  readonly #stdin: Writable;
  #pieces: Buffer[] = [];
  #stderr = "";

  constructor(command: readonly [string, ...string[]], options: { cwd: string; env: Environment }) {
    super();
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
    child.on("error", (error) => this.fail(error));
    child.on("exit", (code, signal) => {
      this.fail(new Error(`${command.join(" ")} ended with ${code ?? signal}: ${this.#stderr}`));
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

  pause(): void {
    this.#process.stdout?.pause();
  }

  resume(): void {
    this.#process.stdout?.resume();
  }

  write(text: string): void {
    this.#stdin.write(text);
  }

  override send(frame: Frame): void {
    this.#stdin.write(`${JSON.stringify(frame)}\n`);
  }

  /** Closes the child's stdin and waits for its exit. */
  async stop(): Promise<void> {
    this.fail(new Error("stopped"));
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
      this.take(Buffer.concat(this.#pieces));
      this.#pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }
}

/** The environment of a child. */
export type Environment = Readonly<Record<string, string | undefined>>;
