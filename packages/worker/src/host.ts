import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { encodeLine, LineDecoder } from "@tau-agent/rpc-protocol/plain";
import type { Frame } from "./frame-stream.ts";

/** How long a host may take to end when it is asked to. */
const END_MS = 8_000;
const MAX_STDERR = 4_000;

/** How a host is started. */
export interface HostStart {
  readonly cwd: string;
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** How long the host goes on without a sign of life from this process. */
  readonly silenceMs: number;
  readonly onFrame: (frame: Frame) => void;
}

/** How many signs of life there are in the time that a host waits for one. */
const BEATS = 3;

/**
 * A host in a process of its own. It ends with this process, because its stdin does; and it ends when
 * this process is paused, because blank lines stop coming: it would keep the session from the next worker.
 */
export class Host {
  readonly #child: ChildProcess;
  readonly ended: Promise<void>;
  readonly #beat: NodeJS.Timeout;
  #stderr = "";

  constructor({ cwd, words, variables, silenceMs, onFrame }: HostStart) {
    const program = createRequire(import.meta.url).resolve("@tau-agent/cli/bin/tau.js");
    const own = ["--mode", "rpc", "--client-timeout-ms", String(silenceMs)];
    const child = spawn(process.execPath, [program, ...own, ...words], {
      cwd,
      env: variables as NodeJS.ProcessEnv,
      stdio: ["pipe", "pipe", "pipe"],
      // A signal for the worker is not one for its hosts: they may end what they do.
      detached: true,
    });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    const decoder = new LineDecoder();
    child.stdout.on("data", (chunk: Buffer) => {
      for (const line of decoder.push(chunk)) {
        if ("text" in line) onFrame(JSON.parse(line.text) as Frame);
      }
    });
    child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-MAX_STDERR);
    });
    // It may have ended; that is reported below.
    child.stdin.on("error", () => undefined);
    this.#beat = setInterval(() => child.stdin.write("\n"), silenceMs / BEATS);
    void promise.then(() => clearInterval(this.#beat));
    child.on("error", (error) => {
      this.#stderr = error.message;
      resolve();
    });
    child.on("close", (code, signal) => {
      this.#stderr ||= `it ended with ${signal ?? `code ${code}`}`;
      resolve();
    });
  }

  /** What it said when something went wrong. */
  get complaint(): string {
    return this.#stderr.trim();
  }

  /** Sends a command or an answer. */
  send(frame: Frame): void {
    this.#child.stdin?.write(encodeLine(frame));
  }

  /** Lets it end in order: what runs is aborted, and its lease given back. */
  async end(): Promise<void> {
    clearInterval(this.#beat);
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.ended;
    clearTimeout(timer);
  }
}
