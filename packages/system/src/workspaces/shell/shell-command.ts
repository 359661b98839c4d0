import type { Readable } from "node:stream";
import {
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
  type WorkspaceStream,
} from "@tau-agent/rpc-protocol/workspace";
import { whenAborted } from "../../base/when-aborted.ts";
import { within } from "../../base/within.ts";
import { checkSignal } from "./kill-script.ts";
import { MarkScanner } from "./mark-scanner.ts";
import { lost, type OpenShell } from "./open-shell.ts";
import { statusCodes } from "./operations.ts";

/** How long output is read after the end of a command if another process still holds the streams. */
const drainMs = 1_000;
/** How long a command may take to end before it is killed. */
const graceMs = 2_000;

/** Sends signals to a command and its descendants. */
export interface CommandSignals {
  /** Sends a signal, and returns the processes that got it. */
  send(process: string, signal: string): Promise<readonly string[]>;
  /** Kills those of the processes that still run. */
  finish(processes: readonly string[]): Promise<void>;
}

/** A command in a separate shell. */
export class ShellCommand implements WorkspaceProcess {
  readonly pid: number;
  /** `<pid>:<start>`, as known in the workspace. */
  readonly process: string;
  readonly done: Promise<WorkspaceExit>;
  readonly #shell: OpenShell;
  readonly #options: WorkspaceSpawnOptions;
  readonly #signals: CommandSignals;
  readonly #sent = new Set<string>();
  readonly #ended = Promise.withResolvers<WorkspaceExit>();
  #isOver = false;
  #timedOut = false;
  #isDiscarding = false;
  #openStreams = 2;
  readonly #closed = Promise.withResolvers<void>();

  /**
   * Waits until a shell has started its command.
   *
   * @throws {WorkspaceError} there is no such program or folder, or the shell is gone
   */
  static async started(
    shell: OpenShell,
    options: WorkspaceSpawnOptions,
    signals: CommandSignals,
  ): Promise<ShellCommand> {
    const lines = new MarkScanner(`${shell.mark}:`);
    const line = await firstLine(shell, lines);
    const [kind, value = "", start = "-"] = line.split(":");
    if (kind === "pid") return new ShellCommand(shell, options, signals, `${value}:${start}`);
    shell.carrier.stop();
    throw startError(options, Number(value));
  }

  private constructor(
    shell: OpenShell,
    options: WorkspaceSpawnOptions,
    signals: CommandSignals,
    process: string,
  ) {
    this.#shell = shell;
    this.#options = options;
    this.#signals = signals;
    this.process = process;
    this.pid = Number.parseInt(process, 10);
    const { carrier } = shell;
    void this.#pump(carrier.stdout, "stdout");
    void this.#pump(carrier.stderr, "stderr");
    void carrier.ended.then((reason) =>
      // Its output before its end must still be read.
      within(drainMs, this.#closed.promise).then(() => this.fail(lost(reason, carrier))),
    );
    this.done = this.#run();
    this.done.catch(() => undefined);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#needInput();
    if (!this.#isOver) await this.#shell.carrier.write(bytes);
  }

  async endInput(): Promise<void> {
    this.#needInput();
    this.#shell.carrier.endInput();
  }

  async kill(signal = "SIGTERM"): Promise<void> {
    checkSignal(signal);
    if (this.#isOver) return;
    this.#sent.add(signal);
    await this.#signals.send(this.process, signal);
  }

  /** Ends the command as lost. */
  fail(error: Error): void {
    this.#isOver = true;
    this.#ended.reject(error);
    this.#shell.carrier.stop();
  }

  #needInput(): void {
    if (this.#options.stdin === "open") return;
    throw new WorkspaceError("failed", "The command was started without input");
  }

  async #run(): Promise<WorkspaceExit> {
    const { signal, timeoutMs } = this.#options;
    const onAbort = () => void this.#end();
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            this.#timedOut = !this.#isOver;
            void this.#end();
          }, timeoutMs);
    const leave = whenAborted(signal, onAbort);
    try {
      const exit = await this.#ended.promise;
      this.#isOver = true;
      await within(drainMs, this.#closed.promise);
      return exit;
    } finally {
      // Later output is read and discarded: closing the stream would kill a server in the background.
      this.#isDiscarding = true;
      clearTimeout(timer);
      leave();
    }
  }

  /** Ends the whole tree; kills remaining processes even if the command itself has ended. */
  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#sent.add("SIGTERM");
    const told = await this.#signals.send(this.process, "SIGTERM").catch(() => []);
    await new Promise((resolve) => setTimeout(resolve, graceMs));
    // Including processes started meanwhile.
    this.#sent.add("SIGKILL");
    if (!this.#isOver) await this.#signals.send(this.process, "SIGKILL").catch(() => []);
    await this.#signals.finish(told).catch(() => undefined);
    if (told.length > 0 || this.#isOver) return;
    // Each start has its own process table, as in a new container, so only its program can be ended.
    this.#ended.resolve({ exitCode: null, signal: "SIGKILL", ...this.#limit() });
    this.#shell.carrier.stop();
  }

  #limit(): { readonly timedOut?: true } {
    return this.#timedOut ? { timedOut: true } : {};
  }

  async #pump(stream: Readable, name: WorkspaceStream): Promise<void> {
    const scanner = new MarkScanner(`${this.#shell.mark}:end:`);
    let end: Buffer | undefined;
    let isFound = false;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (isFound) {
          end = await this.#afterEnd(end, chunk, name);
          continue;
        }
        const { before, after } = scanner.take(chunk);
        await this.#hand(before, name);
        if (after === undefined) continue;
        isFound = true;
        end = await this.#afterEnd(name === "stdout" ? Buffer.alloc(0) : undefined, after, name);
      }
      await this.#hand(scanner.rest(), name);
    } catch {
      // The carrier's end reports the problem.
    }
    this.#openStreams -= 1;
    if (this.#openStreams === 0) this.#closed.resolve();
  }

  /** Reads the line with the exit; anything after it is output of processes that the command left behind. */
  async #afterEnd(
    line: Buffer | undefined,
    chunk: Buffer,
    name: WorkspaceStream,
  ): Promise<Buffer | undefined> {
    if (line === undefined) {
      await this.#hand(chunk, name);
      return undefined;
    }
    const bytes = Buffer.concat([line, chunk]);
    const at = bytes.indexOf("\n");
    if (at < 0) return bytes;
    this.#ended.resolve(this.#exitOf(bytes.toString("latin1", 0, at)));
    await this.#hand(bytes.subarray(at + 1), name);
    return undefined;
  }

  async #hand(bytes: Buffer, name: WorkspaceStream): Promise<void> {
    if (bytes.length === 0 || this.#isDiscarding) return;
    await this.#options.onOutput(bytes, name);
  }

  #exitOf(line: string): WorkspaceExit {
    const [code = "", name = ""] = line.split(":");
    // The parent, which alone knew the exit code, was killed.
    if (code === "") return { exitCode: null };
    const exitCode = Number(code);
    const timedOut = this.#limit();
    const signal = name === "" ? this.#sentSignal(exitCode) : `SIG${name.replace(/^SIG/u, "")}`;
    if (signal === undefined) return { exitCode, ...timedOut };
    return { exitCode: null, signal, ...timedOut };
  }

  /** Shells do not report that SIGINT ended their child. */
  #sentSignal(exitCode: number): string | undefined {
    const silent = { SIGINT: 130, SIGPIPE: 141 };
    return Object.entries(silent).find(
      ([name, code]) => code === exitCode && this.#sent.has(name),
    )?.[0];
  }
}

/** The first line that a command's shell prints, without its mark. */
async function firstLine({ carrier }: OpenShell, scanner: MarkScanner): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let seen: Buffer | undefined;
  const onData = (chunk: Buffer) => {
    seen = seen === undefined ? scanner.take(chunk).after : Buffer.concat([seen, chunk]);
    const end = seen?.indexOf("\n") ?? -1;
    if (seen === undefined || end < 0) return;
    carrier.stdout.off("data", onData);
    carrier.stdout.pause();
    if (seen.length > end + 1) carrier.stdout.unshift(seen.subarray(end + 1));
    resolve(seen.toString("latin1", 0, end));
  };
  carrier.stdout.on("data", onData);
  carrier.stdout.resume();
  void carrier.ended.then((reason) => setImmediate(() => reject(lost(reason, carrier))));
  return promise;
}

function startError({ command, cwd }: WorkspaceSpawnOptions, status: number): WorkspaceError {
  const code = statusCodes[status] ?? "failed";
  const program = typeof command === "string" ? "the shell" : String(command[0]);
  const folder = cwd ?? "its folder";
  return new WorkspaceError(code, `Cannot start ${program} in ${folder}`);
}
