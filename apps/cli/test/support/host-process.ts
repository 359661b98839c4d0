import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import type { Place } from "./place.ts";
import { FrameQueue } from "./run-transcript.ts";
import { mismatch, type Pattern } from "./transcript.ts";

/** The host's entry, as it is installed. */
export const binPath = fileURLToPath(new URL("../../bin/tau.js", import.meta.url));

/** How a host ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the start of the process, in ms. */
  readonly afterMs: number;
}

/** How a host is started. */
export interface HostProcessOptions {
  /** Program and its first arguments; default the Node that runs the tests. */
  readonly command?: readonly string[];
  /** Whether stdout is read from the start. Default true. */
  readonly reads?: boolean;
}

/** The built host as a child, with everything it says. */
export class HostProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly frames: FrameQueue;
  readonly ended: Promise<Exit>;
  stderr = "";
  stdout = "";

  constructor(place: Place, options: HostProcessOptions = {}) {
    this.frames = new FrameQueue(place);
    const [program = process.execPath, ...first] = options.command ?? [process.execPath];
    const start = performance.now();
    this.child = spawn(program, [...first, binPath, ...place.arguments], {
      cwd: place.cwd,
      env: place.variables,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (chunk) => {
      this.stderr += chunk;
    });
    if (options.reads !== false) this.read();
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code, signal) => {
        resolve({ code, signal, afterMs: performance.now() - start });
      });
    });
  }

  /** Reads stdout from now on; what is no frame is kept as text. */
  read(): void {
    const lines = new LineDecoder();
    const take = (decoded: Iterable<{ text: string } | { oversizedBytes: number }>): void => {
      for (const line of decoded) if ("text" in line) this.#take(line.text);
    };
    this.child.stdout.on("data", (chunk: Buffer) => take(lines.push(chunk)));
    this.child.stdout.on("end", () => take(lines.end()));
  }

  /** Sends a line, or a command as one. */
  send(line: string | object): void {
    this.child.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  }

  /** The next frame that fits, leaving out those before it. */
  async until(pattern: Pattern, timeoutMs = 8_000): Promise<Record<string, unknown>> {
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
    this.stdout += `${line}\n`;
    if (line.startsWith("{")) this.frames.push(line);
  }
}
