import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { type Frame, FrameQueue } from "../frames/frame-queue.ts";
import { mismatch, type Pattern } from "../frames/pattern.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Since the start of the process, in ms. */
  readonly afterMs: number;
  /** Why the process could not be started. */
  readonly error?: Error | undefined;
}

/** How a host is started. */
export interface HostProcessOptions {
  /** Whether stdout is read from the start. Default true. */
  readonly reads?: boolean | undefined;
  /** Returns why a frame is not allowed, if it is not. */
  readonly violation?: ((frame: Frame) => string | undefined) | undefined;
  /** Whether the host leads its own process group. Default false. */
  readonly isDetached?: boolean | undefined;
  /** Whether all of its output is kept, in addition to its frames. Default true. */
  readonly keepsOutput?: boolean | undefined;
}

/** How many characters of stderr are kept for a host whose output is not kept. */
const STDERR_TAIL = 64 * 1024;

/**
 * A host as a child process, with all its output. It shares no code with the `HostProcess` of `rpc-client`. That one
 * adds this process's environment, ends a host that closes stdout, and stops reading soon after an exit. A test must
 * observe all of this, and late output too.
 */
export class HostProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly frames: FrameQueue;
  readonly ended: Promise<Exit>;
  stderr = "";
  stdout = "";
  /** Lines on stdout that are not frames; only the first one if the output is not kept. */
  readonly noise: string[] = [];
  /** The number of lines on stdout that were not frames. */
  noiseCount = 0;
  readonly #keepsOutput: boolean;

  constructor(
    argv: readonly string[],
    place: { readonly cwd: string; readonly variables: Readonly<Record<string, string>> },
    options: HostProcessOptions = {},
  ) {
    this.frames = new FrameQueue(options.violation);
    this.#keepsOutput = options.keepsOutput !== false;
    const [program = "", ...words] = argv;
    const start = performance.now();
    this.child = spawn(program, words, {
      cwd: place.cwd,
      env: place.variables,
      stdio: ["pipe", "pipe", "pipe"],
      detached: options.isDetached === true,
      windowsHide: true,
    });
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (chunk) => {
      this.stderr += chunk;
      if (!this.#keepsOutput) this.stderr = this.stderr.slice(-STDERR_TAIL);
    });
    if (options.reads !== false) this.read();
    this.ended = new Promise((resolve) => {
      const end = (exit: Omit<Exit, "afterMs">): void => {
        this.frames.end();
        resolve({ ...exit, afterMs: performance.now() - start });
      };
      this.child.once("error", (error) => end({ code: null, signal: null, error }));
      this.child.once("close", (code, signal) => end({ code, signal }));
    });
  }

  /** Reads stdout from now on; lines that are not frames are kept as text. */
  read(): void {
    const lines = new LineDecoder();
    const take = (decoded: Iterable<{ text: string } | { oversizedBytes: number }>): void => {
      for (const line of decoded) if ("text" in line) this.#take(line.text);
    };
    this.child.stdout.on("data", (chunk: Buffer) => take(lines.push(chunk)));
    this.child.stdout.on("end", () => take(lines.end()));
  }

  /** Sends a line as it is, or a command as JSON. */
  send(line: string | object): void {
    this.child.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  }

  /** The next frame that fits; earlier frames are skipped. */
  async until(pattern: Pattern, timeoutMs?: number): Promise<Frame> {
    for (;;) {
      const frame = await this.frames.next(timeoutMs);
      if (frame === undefined) {
        throw new RangeError(`No frame fits ${JSON.stringify(pattern)}; stderr: ${this.stderr}`);
      }
      if (mismatch(pattern, frame) === undefined) return frame;
    }
  }

  /** Ends stdin and waits for the exit. */
  async finish(): Promise<Exit> {
    this.child.stdin.end();
    return this.ended;
  }

  #take(line: string): void {
    if (this.#keepsOutput) this.stdout += `${line}\n`;
    const frame = parseObject(line);
    if (frame !== undefined) {
      this.frames.push(frame);
      return;
    }
    this.noiseCount += 1;
    if (this.#keepsOutput || this.noise.length === 0) this.noise.push(line);
  }
}
