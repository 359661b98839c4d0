import { type ChildProcessByStdio, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../base/files/error-code.ts";
import { FirstErrors } from "./first-errors.ts";
import { withLimit } from "./limit-mark.ts";
import { OutputPump, type OutputSink } from "./output-pump.ts";
import { ProcessError } from "./process-error.ts";
import { hasProcessGroups } from "./process-group.ts";
import type { PlannedChild, ProcessRegistry } from "./process-registry.ts";
import type { EnclosedCommand, PlainCommand, Sandbox } from "./sandbox.ts";
import { setUpAgain } from "./set-up-again.ts";
import { StartStatus, statusPipe } from "./start-status.ts";

/** A child to run in a process group of its own. */
export interface ProcessRequest {
  /** A program, or with `isCommandLine` a line for the system's shell. */
  readonly file: string;
  readonly args: readonly string[];
  readonly isCommandLine?: boolean | undefined;
  /** Default: the host's own. */
  readonly cwd?: string | undefined;
  /** The child's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Keeps the child and all that it starts inside. */
  readonly sandbox?: Sandbox | undefined;
  /** Folders that it may write there, too. */
  readonly alsoWritable?: readonly string[] | undefined;
  readonly processes: ProcessRegistry;
  /** It starts no other processes, so killing it needs no search. */
  readonly isAlone?: boolean | undefined;
  /** An open file to read from; without it there is no input. */
  readonly inputFile?: number | undefined;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal | undefined;
  /** Kills the group after this time. */
  readonly timeoutMs?: number | undefined;
  /** Called once it runs, with what kills it and all that came from it, also after its own end. */
  readonly onStarted?: ((kill: () => void) => void) | undefined;
}

export type ProcessOutcome =
  | { readonly kind: "exited"; readonly exitCode: number }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "timed_out" }
  | { readonly kind: "aborted" };

type StartRequest = ProcessRequest & Pick<Partial<EnclosedCommand>, "startSigns">;
type Child = ChildProcessByStdio<null, Readable, Readable>;
type Exit = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

/** How long a pipe must stay silent after the child's exit to count as finished. */
const quietMs = 100;
/** How long output of background processes is followed at most after the child's exit. */
const maxDrainMs = 1_000;

/**
 * Runs a child until it exits and its output is drained. Background processes that hold its output
 * open are not waited for, and stay alive until the registry kills them. Timeout and abort kill
 * the group with SIGKILL: a polite signal would let a shell go on to its next command.
 *
 * @throws {ProcessError} the child could not be started
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  if (request.sandbox === undefined) return runOnce(request);
  const { signal, timeoutMs } = request;
  const started = performance.now();
  const onStarted = lastKill(request.onStarted);
  return setUpAgain(() => {
    const passedMs = performance.now() - started;
    const leftMs = timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - passedMs);
    return runOnce({ ...request, onStarted, timeoutMs: leftMs });
  }, signal);
}

/** Reports the first of several tries; what it gives kills the last one. */
function lastKill(onStarted: ProcessRequest["onStarted"]): ProcessRequest["onStarted"] {
  let kill: (() => void) | undefined;
  let isKilled = false;
  return (killTry) => {
    const isFirst = kill === undefined;
    kill = killTry;
    if (isKilled) killTry();
    if (!isFirst) return;
    onStarted?.(() => {
      isKilled = true;
      kill?.();
    });
  };
}

async function runOnce(request: ProcessRequest): Promise<ProcessOutcome> {
  if (request.signal?.aborted) return { kind: "aborted" };
  const planned = request.processes.prepare(request.variables, request.isAlone);
  const plain = plainCommand(request, planned);
  const enclosed = await request.sandbox?.enclose(plain);
  try {
    return await runChild({ ...request, ...(enclosed ?? plain) }, planned);
  } finally {
    // What the command did and said counts all the same.
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

async function runChild(request: StartRequest, planned: PlannedChild): Promise<ProcessOutcome> {
  const { child, exited } = await start(request);
  const status = StartStatus.of(child, request);
  const firstErrors = status && new FirstErrors(status);
  const sink = firstErrors?.hold(request.onOutput) ?? request.onOutput;
  const pump = new OutputPump(child.stdout, child.stderr, sink);
  const { pid } = child;
  if (pid !== undefined) {
    request.processes.add(pid);
    request.onStarted?.(() => request.processes.kill(pid, planned));
  }
  let killedFor: "timed_out" | "aborted" | undefined;
  const kill = (reason: "timed_out" | "aborted") => {
    killedFor ??= reason;
    if (pid !== undefined) request.processes.kill(pid, planned);
  };
  const onAbort = () => kill("aborted");
  request.signal?.addEventListener("abort", onAbort, { once: true });
  // It may have been aborted while the child was started.
  if (request.signal?.aborted) onAbort();
  const timer =
    request.timeoutMs === undefined
      ? undefined
      : setTimeout(() => kill("timed_out"), request.timeoutMs);
  try {
    const exit = await exited;
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
    await firstErrors?.end(exit.exitCode);
    await pump.drain(quietMs, maxDrainMs);
    if (firstErrors?.failure !== undefined) throw firstErrors.failure;
    return outcomeOf(exit, killedFor);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
    if (pid !== undefined) request.processes.leaderEnded(pid);
  }
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
      stdio: [request.inputFile ?? "ignore", "pipe", "pipe", ...statusPipe(request)],
      windowsHide: true,
    }) as Child;
    // Listen at once: a missing program is reported before any promise continues.
    const exited = exitOf(child, request);
    exited.catch(() => {});
    // Without pipes, which a limit on open files forbids, the error follows.
    if (child.stdout === undefined || child.stdout === null) await exited;
    return { child, exited };
  } catch (error) {
    if (error instanceof ProcessError) throw error;
    // Arguments that are too long or hold a NUL are refused before anything is started.
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

function outcomeOf(exit: Exit, killedFor: "timed_out" | "aborted" | undefined): ProcessOutcome {
  // A child that ended by itself just before it was killed keeps its real exit code.
  if (exit.exitCode !== null && (hasProcessGroups || killedFor === undefined)) {
    return { kind: "exited", exitCode: exit.exitCode };
  }
  if (killedFor !== undefined) return { kind: killedFor };
  return { kind: "signalled", signal: exit.signal ?? "SIGKILL" };
}

/** The error of a child whose working folder is not there. */
export function missingFolder(cwd: string, options?: ErrorOptions): ProcessError {
  const text = `The working directory does not exist: ${cwd}. Create it or choose another.`;
  return new ProcessError("cwd_missing", text, options);
}

async function spawnErrorOf(error: unknown, { file, cwd }: ProcessRequest): Promise<ProcessError> {
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
