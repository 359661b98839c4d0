import { type ChildProcessByStdio, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../base/files/error-code.ts";
import { whenAborted } from "../base/when-aborted.ts";
import { FirstErrors } from "./first-errors.ts";
import { withLimit } from "./limit-mark.ts";
import { createOutputPump, type OutputSink } from "./output-pump.ts";
import { ProcessError } from "./process-error.ts";
import { hasProcessGroups } from "./process-group.ts";
import type { PlannedChild, ProcessRegistry } from "./process-registry.ts";
import { isZombie } from "./process-table.ts";
import type { EnclosedCommand, PlainCommand, Sandbox } from "./sandbox.ts";
import { setUpAgain } from "./set-up-again.ts";
import { withShellLevel } from "./shell-level.ts";
import { StartStatus, statusPipe } from "./start-status.ts";

/** A child to run in its own process group. */
export interface ProcessRequest extends PlainCommand {
  /** `file` is a command line for the system's shell, not a program. */
  readonly isCommandLine?: boolean | undefined;
  /** Confines the child and all its descendants. */
  readonly sandbox?: Sandbox | undefined;
  readonly processes: ProcessRegistry;
  /** The child starts no other processes, so killing it needs no search. */
  readonly isAlone?: boolean | undefined;
  /** An open file to use as input; by default there is no input. */
  readonly inputFile?: number | undefined;
  /** Opens an input to which the caller writes, instead of `inputFile`. */
  readonly hasInput?: boolean | undefined;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal | undefined;
  /** Kills the group after this time. */
  readonly timeoutMs?: number | undefined;
  /** Timeout and abort send SIGTERM first, and kill whatever still runs after {@link graceMs}. */
  readonly endsPolitely?: boolean | undefined;
  readonly onStarted?: ((running: RunningProcess) => void) | undefined;
}

/** A running child. */
export interface RunningProcess {
  readonly pid: number | undefined;
  /** Kills the child and all its descendants, even after its own end, or sends them another signal. */
  kill(signal?: NodeJS.Signals | undefined): void;
  /** Writes to the child's input; does nothing once it has ended. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
}

export type ProcessOutcome =
  | { readonly kind: "exited"; readonly exitCode: number }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "timed_out" }
  | { readonly kind: "aborted" };

/** How a child ended, as the system reports it. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it was killed; absent if it ended by itself. */
  readonly killedFor?: "timed_out" | "aborted" | undefined;
}

type StartRequest = ProcessRequest & Pick<Partial<EnclosedCommand>, "startSigns">;
type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;
type Exit = Omit<ProcessEnd, "killedFor">;

/** How long a pipe must stay silent after the child's exit to count as finished. */
const quietMs = 100;
/** How long at most to follow output of background processes after the child's exit. */
const maxDrainMs = 1_000;
/** How long a child may take to end after SIGTERM. */
const graceMs = 2_000;

/**
 * Runs a child until it exits and its output is drained. It does not wait for background processes
 * that hold the output open; they stay alive until the registry kills them. Timeout and abort kill
 * the group with SIGKILL: a polite signal would let a shell go on to its next command.
 *
 * @throws {ProcessError} the child could not be started
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  if (request.signal?.aborted) return { kind: "aborted" };
  return outcomeOf(await runToEnd(request));
}

/**
 * {@link runProcess}, with the end as the system reports it.
 *
 * @throws {ProcessError} the child could not be started
 */
export async function runToEnd(request: ProcessRequest): Promise<ProcessEnd> {
  if (request.sandbox === undefined) return runOnce(request);
  const { signal, timeoutMs } = request;
  const started = performance.now();
  const onStarted = lastTry(request.onStarted);
  return setUpAgain(() => {
    const passedMs = performance.now() - started;
    const leftMs = timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - passedMs);
    return runOnce({ ...request, onStarted, timeoutMs: leftMs });
  }, signal);
}

/** Reports only the first of several attempts as started; the object it passes controls the latest attempt. */
function lastTry(onStarted: ProcessRequest["onStarted"]): ProcessRequest["onStarted"] {
  let last: RunningProcess | undefined;
  let killedBy: { readonly signal: NodeJS.Signals | undefined } | undefined;
  return (running) => {
    const isFirst = last === undefined;
    last = running;
    if (killedBy !== undefined) running.kill(killedBy.signal);
    if (!isFirst) return;
    onStarted?.({
      pid: running.pid,
      kill(signal) {
        killedBy = { signal };
        last?.kill(signal);
      },
      write: async (bytes) => last?.write(bytes),
      endInput: () => last?.endInput(),
    });
  };
}

async function runOnce(request: ProcessRequest): Promise<ProcessEnd> {
  if (request.signal?.aborted) return { exitCode: null, signal: null, killedFor: "aborted" };
  const variables = request.hasInput ? withShellLevel(request.variables) : request.variables;
  const planned = request.processes.prepare(variables, request.isAlone);
  const plain = plainCommand(request, planned);
  const enclosed = await request.sandbox?.enclose(plain);
  try {
    return await runChild({ ...request, ...(enclosed ?? plain) }, planned);
  } finally {
    // A failure here does not invalidate the command's outcome and output.
    await enclosed?.release().catch((error: unknown) => {
      const text = `\n[The sandbox could not be taken down: ${errorMessage(error)}]\n`;
      return request.onOutput(Buffer.from(text), "stderr");
    });
  }
}

function plainCommand(
  { file, args, cwd, alsoWritable }: ProcessRequest,
  { limit, variables }: PlannedChild,
): PlainCommand {
  const words = limit === undefined ? args : withLimit(limit, file, args);
  return { file, args: words, cwd, variables, alsoWritable };
}

async function runChild(request: StartRequest, planned: PlannedChild): Promise<ProcessEnd> {
  const { child, exited } = await start(request);
  const status = StartStatus.of(child, request);
  const firstErrors = status && new FirstErrors(status);
  const sink = firstErrors?.hold(request.onOutput) ?? request.onOutput;
  const pump = createOutputPump(child.stdout, child.stderr, sink);
  const { pid } = child;
  if (pid !== undefined) request.processes.add(pid);
  const killer = new Killer(child, planned, request);
  // Without a process id the start has failed, and its error follows.
  if (pid !== undefined) request.onStarted?.(runningProcess(child, killer));
  // The signal may have been aborted while the child was started.
  const leave = whenAborted(request.signal, () => killer.end("aborted"));
  const timer =
    request.timeoutMs === undefined
      ? undefined
      : setTimeout(() => killer.end("timed_out"), request.timeoutMs);
  try {
    const exit = await exited;
    clearTimeout(timer);
    leave();
    child.stdin?.destroy();
    await firstErrors?.end(exit.exitCode);
    await pump.drain(quietMs, maxDrainMs);
    if (firstErrors?.failure !== undefined) throw firstErrors.failure;
    return { ...exit, killedFor: killer.reason };
  } finally {
    clearTimeout(timer);
    leave();
    if (pid !== undefined) request.processes.leaderEnded(pid);
  }
}

/** Ends a child with all its descendants. */
class Killer {
  readonly #child: Child;
  readonly #planned: PlannedChild;
  readonly #request: StartRequest;
  /** Why the child was ended; undefined if it ended by itself just before. */
  reason: "timed_out" | "aborted" | undefined;

  constructor(child: Child, planned: PlannedChild, request: StartRequest) {
    this.#child = child;
    this.#planned = planned;
    this.#request = request;
  }

  end(reason: "timed_out" | "aborted"): void {
    const isPolite = this.#request.endsPolitely === true && hasProcessGroups;
    if (this.reason === undefined && !(isPolite && this.#hasEnded())) this.reason = reason;
    this.kill(isPolite ? "SIGTERM" : "SIGKILL");
    if (isPolite) setTimeout(() => this.kill(), graceMs).unref();
  }

  kill(signal?: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid !== undefined) this.#request.processes.kill(pid, this.#planned, signal);
  }

  /** Whether the child has ended, even if Node has not reported it yet. */
  #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return exitCode !== null || signalCode !== null || (pid !== undefined && isZombie(pid));
  }
}

function runningProcess(child: Child, killer: Killer): RunningProcess {
  const { stdin } = child;
  // The child's end is reported anyway.
  stdin?.on("error", () => {});
  return {
    pid: child.pid,
    kill: (signal) => killer.kill(signal),
    write: (bytes) =>
      new Promise((resolve) => {
        if (stdin?.writable) stdin.write(bytes, () => resolve());
        else resolve();
      }),
    endInput: () => void stdin?.end(),
  };
}

async function start(
  request: StartRequest,
): Promise<{ readonly child: Child; readonly exited: Promise<Exit> }> {
  try {
    const child = spawn(request.file, request.args, {
      cwd: request.cwd,
      env: request.variables,
      shell: request.isCommandLine ?? false,
      detached: hasProcessGroups,
      stdio: [inputOf(request), "pipe", "pipe", ...statusPipe(request)],
      windowsHide: true,
    }) as Child;
    // Listen immediately: a missing program is reported before any promise continues.
    const exited = exitOf(child, request);
    exited.catch(() => {});
    // There are no pipes if too many files are open; the error follows.
    if (child.stdout === undefined || child.stdout === null) await exited;
    return { child, exited };
  } catch (error) {
    if (error instanceof ProcessError) throw error;
    // Arguments that are too long or contain a NUL are refused before anything starts.
    throw await spawnErrorOf(error, request);
  }
}

function exitOf(child: Child, request: ProcessRequest): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    child.once("error", (error) => {
      spawnErrorOf(error, request).then(reject, reject);
    });
  });
}

function inputOf({ hasInput, inputFile }: ProcessRequest): "pipe" | "ignore" | number {
  return hasInput === true ? "pipe" : (inputFile ?? "ignore");
}

function outcomeOf({ exitCode, signal, killedFor }: ProcessEnd): ProcessOutcome {
  // A child that ended by itself just before it was killed keeps its real exit code.
  if (exitCode !== null && (hasProcessGroups || killedFor === undefined)) {
    return { kind: "exited", exitCode };
  }
  if (killedFor !== undefined) return { kind: killedFor };
  return { kind: "signalled", signal: signal ?? "SIGKILL" };
}

/** The error for a child whose working folder is missing. */
export function missingFolder(cwd: string, options?: ErrorOptions): ProcessError {
  const text = `The working directory does not exist: ${cwd}. Create it or choose another.`;
  return new ProcessError("cwd_missing", text, options);
}

/** Why a program could not be started, derived from the system's error. */
export async function spawnErrorOf(
  error: unknown,
  { file, cwd }: Pick<ProcessRequest, "file" | "cwd">,
): Promise<ProcessError> {
  const options = { cause: error };
  const code = errorCode(error);
  // The system reports a missing directory as if the program were missing.
  if (cwd !== undefined && (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES")) {
    const directory = await stat(cwd).catch(() => undefined);
    if (!directory?.isDirectory()) return missingFolder(cwd, options);
  }
  if (code === "ENOENT") {
    const text = `Program not found: ${file}. Install it or set shellPath.`;
    return new ProcessError("not_found", text, options);
  }
  if (code === "EACCES") {
    const text = `Not executable: ${file}. Check its permissions or set shellPath.`;
    return new ProcessError("not_executable", text, options);
  }
  if (code === "E2BIG") {
    const text = "The command is too long for the system. Write it to a file and run that.";
    return new ProcessError("command_too_long", text, options);
  }
  if (code === "EAGAIN") {
    const text = `Cannot start ${file}: too many processes are running. End some, or raise the limit (ulimit -u).`;
    return new ProcessError("spawn_failed", text, options);
  }
  const reason = remedyOfLimit(error) ?? errorMessage(error);
  return new ProcessError("spawn_failed", `Cannot start ${file}: ${reason}`, options);
}
