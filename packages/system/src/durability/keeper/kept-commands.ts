import { readdirSync } from "node:fs";
import { constants } from "node:os";
import {
  type WorkspaceAdoptOptions,
  type WorkspaceDurable,
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceOwner,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { whenAborted } from "../../base/when-aborted.ts";
import { withLimit } from "../../processes/limit-mark.ts";
import { keyMark } from "../../processes/output-mask.ts";
import { SandboxStartError } from "../../processes/process-error.ts";
import { ownersVariable } from "../../processes/process-owners.ts";
import type { EnclosedCommand, PlainCommand } from "../../processes/sandbox.ts";
import { setUpAgain } from "../../processes/set-up-again.ts";
import type { EpochGuard } from "../epoch-guard.ts";
import { CommandFolder, createMark, limitOf } from "./command-folder.ts";
import { type CommandFollower, createCommandFollower } from "./command-follower.ts";
import { KeeperProcess } from "./keeper-process.ts";

/** How long a command may take to end after SIGTERM. */
const graceMs = 2_000;
/** How long to wait for a command that is being started. */
const startMs = 5_000;
const defaultKeepMs = 60_000;

export interface KeptStart
  extends WorkspaceOwner,
    Pick<WorkspaceSpawnOptions, "onOutput" | "signal" | "keepMs" | "timeoutMs" | "outputFolder"> {
  readonly commandId: string;
  readonly command: PlainCommand & { readonly cwd: string };
  /** Keys that must not be written to the output folder, the longest first. */
  readonly outputKeys: readonly string[];
  /** Puts the command into the sandbox. */
  readonly enclose?: ((command: PlainCommand) => Promise<EnclosedCommand>) | undefined;
}

/** Commands on this machine that outlive their host (decision 63). */
export class KeptCommands implements WorkspaceDurable {
  readonly #guard: EpochGuard;
  readonly #variables: Readonly<Record<string, string | undefined>>;
  #keeper: KeeperProcess | undefined;

  constructor(guard: EpochGuard, variables: Readonly<Record<string, string | undefined>>) {
    this.#guard = guard;
    this.#variables = variables;
  }

  /**
   * Starts a command under the keeper, and retries if its sandbox could not be set up.
   *
   * @throws {WorkspaceError} `exists`: the command was started before; `stale_epoch`
   * @throws {ProcessError} `sandbox_unavailable`; `done` may also fail with it
   * @throws the error of a failed start, with the system's code
   */
  async spawn(options: KeptStart): Promise<WorkspaceProcess> {
    const { signal, timeoutMs } = options;
    const started = performance.now();
    const first = Promise.withResolvers<WorkspaceProcess>();
    let last: WorkspaceProcess | undefined;
    let killedBy: string | undefined;
    const done = setUpAgain(async (): Promise<WorkspaceExit> => {
      if (last !== undefined && signal?.aborted) return { exitCode: null, signal: "SIGTERM" };
      const passedMs = performance.now() - started;
      const leftMs = timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - passedMs);
      last = await this.#start({ ...options, timeoutMs: leftMs });
      if (killedBy !== undefined) await last.kill(killedBy);
      first.resolve(last);
      return last.done;
    }, signal);
    done.catch(first.reject);
    const kill = async (name = "SIGTERM"): Promise<void> => {
      killedBy = name;
      await last?.kill(name);
    };
    return { ...(await first.promise), kill, done };
  }

  /** `done` rejects with a {@link SandboxStartError} if the command never ran. */
  async #start(options: KeptStart): Promise<WorkspaceProcess> {
    const { commandId, command, enclose, timeoutMs, keepMs = defaultKeepMs, ...rest } = options;
    const { session, epoch, onOutput, signal, outputFolder, outputKeys } = rest;
    const mark = createMark();
    const limit = limitOf(mark);
    const plain: PlainCommand = {
      ...command,
      args: limit === undefined ? command.args : withLimit(limit, command.file, command.args),
      // Without the marks of this host and its parent hosts: the command would be killed when they end.
      variables: { ...command.variables, [ownersVariable]: mark },
    };
    const enclosed = await enclose?.(plain);
    const { file, args, cwd = command.cwd, variables } = enclosed ?? plain;
    let follower: CommandFollower | undefined;
    const folder = await this.#guard
      .change({ session, epoch }, async (path) => {
        const made = new CommandFolder(path, commandId);
        made.create(mark, epoch);
        const id = `${session}/${commandId}`;
        const request = {
          id,
          folder: made.path,
          file,
          args,
          cwd,
          variables,
          mark,
          startSigns: enclosed?.startSigns,
          timeoutMs,
          keepMs,
          output:
            outputFolder === undefined
              ? undefined
              : { folder: outputFolder, keys: outputKeys, keyMark },
        };
        try {
          await this.#running().start(request, () => follower?.wake());
        } catch (error) {
          made.remove();
          throw error;
        }
        return made;
      })
      .catch(async (error: unknown) => {
        await enclosed?.release();
        throw error;
      });
    const forgetUnstarted = async (error: unknown): Promise<never> => {
      if (error instanceof SandboxStartError) await this.forget({ session, epoch }, commandId);
      throw error;
    };
    follower = createCommandFollower(folder, { onOutput, fromOffset: 0 });
    const process = this.#process(folder, follower, { epoch, signal });
    const done = process.done.catch(forgetUnstarted).finally(async () => {
      this.#keeper?.forget(`${session}/${commandId}`);
      await enclosed?.release();
    });
    done.catch(() => {});
    return { ...process, done };
  }

  async adopt(options: WorkspaceAdoptOptions): Promise<WorkspaceProcess> {
    const { session, epoch, commandId, fromOffset, onOutput, signal } = options;
    const folder = await this.#guard.change({ session, epoch }, async (path) => {
      const found = new CommandFolder(path, commandId);
      if (!found.exists || found.forbidStart()) throw missing(commandId);
      const hasRun = (await hasBegun(found)) && found.outcome?.unstarted === undefined;
      if (!hasRun || found.outcome?.unclaimed) throw missing(commandId);
      found.own(epoch);
      return found;
    });
    const follower = createCommandFollower(folder, { onOutput, fromOffset });
    return this.#process(folder, follower, { epoch, signal });
  }

  async endCommands({
    session,
    beforeEpoch,
  }: {
    readonly session: string;
    readonly beforeEpoch: number;
  }): Promise<{ readonly ended: number }> {
    return this.#guard.change({ session, epoch: beforeEpoch }, async (path) => {
      const names = attempt(() => readdirSync(`${path}/commands`)) ?? [];
      const old = names
        .map((name) => new CommandFolder(path, name))
        .filter(({ epoch }) => epoch < beforeEpoch);
      const ended = await Promise.all(old.map(endCommand));
      return { ended: ended.filter(Boolean).length };
    });
  }

  /** Deletes the files of a command that has ended. */
  async forget({ session, epoch }: WorkspaceOwner, commandId: string): Promise<void> {
    await this.#guard.change({ session, epoch }, (path) => {
      new CommandFolder(path, commandId).remove();
    });
  }

  /** Starts no more commands; running ones continue. */
  leave(): void {
    this.#keeper?.leave();
    this.#keeper = undefined;
  }

  #running(): KeeperProcess {
    if (this.#keeper?.hasEnded !== false) this.#keeper = new KeeperProcess(this.#variables);
    return this.#keeper;
  }

  #process(
    folder: CommandFolder,
    { done }: CommandFollower,
    { epoch, signal }: { readonly epoch: number; readonly signal: AbortSignal | undefined },
  ): WorkspaceProcess {
    // A host that lost the session must not end commands of its successor.
    const kill = (name: NodeJS.Signals): void => {
      if (folder.epoch <= epoch) folder.kill(name);
    };
    let timer: NodeJS.Timeout | undefined;
    const leave = whenAborted(signal, () => {
      kill("SIGTERM");
      timer = setTimeout(() => kill("SIGKILL"), graceMs);
    });
    const settle = (): void => {
      clearTimeout(timer);
      leave();
    };
    done.then(settle, settle);
    return {
      pid: folder.childPid,
      write: async () => {},
      endInput: async () => {},
      kill: async (name = "SIGTERM") => kill(signalOf(name)),
      done: done.then((exit) =>
        signal?.aborted && exit.signal === undefined
          ? { ...exit, exitCode: null, signal: "SIGTERM" }
          : exit,
      ),
    };
  }
}

/** Whether the keeper has noted the process that it started. */
async function hasBegun(folder: CommandFolder): Promise<boolean> {
  const deadline = performance.now() + startMs;
  while (folder.childPid === undefined && folder.outcome === undefined) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** Ends a command and deletes its files; returns whether it ran. */
async function endCommand(folder: CommandFolder): Promise<boolean> {
  const hasRun = !folder.forbidStart() && folder.outcome === undefined;
  const deadline = performance.now() + startMs;
  if (hasRun) await hasBegun(folder);
  while (hasRun && folder.outcome === undefined && performance.now() < deadline) {
    folder.kill();
    if (!folder.isKept) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  folder.remove();
  return hasRun;
}

function missing(commandId: string): WorkspaceError {
  return new WorkspaceError("not_found", `There is no command ${commandId} to go on with`);
}

function signalOf(name: string): NodeJS.Signals {
  if (Object.hasOwn(constants.signals, name)) return name as NodeJS.Signals;
  throw new WorkspaceError("failed", `There is no signal ${name}`);
}
