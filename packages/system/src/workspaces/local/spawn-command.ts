import { constants } from "node:os";
import {
  isWorkspaceError,
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
  type WorkspaceStream,
} from "@tau-agent/rpc-protocol/workspace";
import type { KeptCommands } from "../../durability/keeper/kept-commands.ts";
import {
  type ProcessEnd,
  type RunningProcess,
  runToEnd,
  spawnErrorOf,
} from "../../processes/process.ts";
import { ProcessError } from "../../processes/process-error.ts";
import type { ProcessRegistry } from "../../processes/process-registry.ts";
import type { Sandbox } from "../../processes/sandbox.ts";
import { aborted, workspaceError } from "./local-errors.ts";

export interface SpawnPlace {
  readonly cwd: string;
  readonly shell: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessRegistry;
  readonly sandbox?: Sandbox | undefined;
  /** Keys that must not be written to output folders. */
  readonly outputKeys: () => readonly string[];
  /** Starts commands that outlive this host. */
  readonly keeper?: KeptCommands | undefined;
}

/** Starts a command; resolves once it runs. */
export async function spawnCommand(
  options: WorkspaceSpawnOptions,
  place: SpawnPlace,
): Promise<WorkspaceProcess> {
  const { command, onOutput, timeoutMs, signal, stdin } = options;
  const cwd = options.cwd ?? place.cwd;
  if (signal?.aborted) throw aborted(signal.reason);
  const [file, ...args] = typeof command === "string" ? [place.shell, "-c", command] : command;
  if (file === undefined) throw new WorkspaceError("failed", "The command is empty");
  const kept = await spawnKept(options, place, { file, args, cwd });
  if (kept !== undefined) return kept;
  const output = createHeldOutput(onOutput);
  const started = Promise.withResolvers<RunningProcess>();
  const ending = runToEnd({
    ...{ file, args, cwd, timeoutMs, signal },
    variables: variablesOf(place.environment, options.environment),
    processes: place.processes,
    sandbox: place.sandbox,
    hasInput: stdin === "open",
    endsPolitely: true,
    onOutput: (chunk, stream) => output.take(chunk, stream),
    onStarted: started.resolve,
  });
  const done = ending.then(
    async (end) => {
      await output.taken;
      return exitOf(end);
    },
    (error: unknown) => {
      throw workspaceError(error, cwd);
    },
  );
  // The caller gets the error through the process.
  done.catch(() => {});
  // Without a start event the promise is settled: the start failed, or was aborted before.
  const running = await Promise.race([started.promise, done]);
  if (!("kill" in running)) throw aborted(signal?.reason);
  return {
    pid: running.pid,
    write: (bytes) => running.write(bytes),
    endInput: async () => running.endInput(),
    kill: async (name = "SIGTERM") => running.kill(signalOf(name)),
    done,
  };
}

/** Starts a command that outlives its host; undefined for other commands. */
async function spawnKept(
  options: WorkspaceSpawnOptions,
  { keeper, sandbox, environment, outputKeys }: SpawnPlace,
  plain: { readonly file: string; readonly args: readonly string[]; readonly cwd: string },
): Promise<WorkspaceProcess | undefined> {
  const { commandId, session, epoch, stdin, keepMs, timeoutMs, signal, outputFolder } = options;
  if (commandId === undefined) return undefined;
  if (keeper === undefined || session === undefined || epoch === undefined || stdin === "open") {
    const text = "A command is kept for an owner (session and epoch), and without input";
    throw new WorkspaceError("failed", text);
  }
  // The command's network would end with this host.
  if (sandbox?.usesHost) return undefined;
  const variables = variablesOf(environment, options.environment);
  try {
    const { done, ...process } = await keeper.spawn({
      ...{ commandId, session, epoch, keepMs, timeoutMs, signal, outputFolder },
      outputKeys: outputKeys(),
      command: { ...plain, variables },
      enclose: sandbox && ((command) => sandbox.enclose(command)),
      onOutput: options.onOutput,
    });
    const ended = done.catch(fail);
    ended.catch(() => {});
    return { ...process, done: ended };
  } catch (error) {
    return fail(error);
  }

  async function fail(error: unknown): Promise<never> {
    if (isWorkspaceError(error)) throw error;
    const ownError = error instanceof ProcessError ? error : await spawnErrorOf(error, plain);
    throw workspaceError(ownError, plain.cwd);
  }
}

/** Passes output on piece by piece: Node continues reading after the end of a child even if the stream is paused. */
function createHeldOutput(onOutput: WorkspaceSpawnOptions["onOutput"]) {
  let held: Promise<void> | undefined;

  return {
    /** Fulfilled when all output so far was accepted. */
    get taken(): Promise<void> | undefined {
      return held;
    },
    take(chunk: Buffer, stream: WorkspaceStream): Promise<void> | undefined {
      const taking =
        held === undefined ? onOutput(chunk, stream) : held.then(() => onOutput(chunk, stream));
      if (!(taking instanceof Promise)) return undefined;
      const pending = taking.finally(() => {
        if (held === pending) held = undefined;
      });
      held = pending;
      return pending;
    },
  };
}

function variablesOf(
  own: SpawnPlace["environment"],
  changes: WorkspaceSpawnOptions["environment"] = {},
): Record<string, string> {
  const all = Object.entries({ ...own, ...changes });
  return Object.fromEntries(
    all.flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])),
  );
}

function signalOf(name: string): NodeJS.Signals {
  if (Object.hasOwn(constants.signals, name)) return name as NodeJS.Signals;
  throw new WorkspaceError("failed", `There is no signal ${name}`);
}

/** A killed command has no exit code, even if it handled the signal and exited with one. */
function exitOf({ exitCode, signal, killedFor }: ProcessEnd): WorkspaceExit {
  if (killedFor === undefined) return signal === null ? { exitCode } : { exitCode, signal };
  const isTimedOut = killedFor === "timed_out";
  return { exitCode: null, signal: signal ?? "SIGTERM", ...(isTimedOut && { timedOut: true }) };
}
