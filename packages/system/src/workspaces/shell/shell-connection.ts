import { WorkspaceError, type WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { within } from "../../base/within.ts";
import { commandScript } from "./command-script.ts";
import { finishScript, isLasting, readProcesses, signalScript } from "./kill-script.ts";
import { Lane, type ShellAnswer, type ShellRequest } from "./lane.ts";
import { type OpenShell, openShell, type StartCarrier } from "./open-shell.ts";
import { ShellCommand } from "./shell-command.ts";
import { orFailure } from "./shell-files.ts";
import { placeScript, readPlace, type ShellPlace } from "./shell-place.ts";

/** The maximum number of shells for requests, and how long a request waits before another shell is started. */
const maxLanes = 4;
const patienceMs = 50;
/** How long a shell may take to start. */
const startLimitMs = 30_000;
/** Above this time, starting a shell is slow enough to keep one in reserve. */
const slowStartMs = 40;
/** How long the shell of an aborted call may continue. */
const abortedMs = 5_000;
/** How long to wait for running commands to end. */
const closeMs = 4_000;
const pausesMs = [200, 800];

export interface ShellConnectionOptions {
  readonly start: StartCarrier;
  /** How long the first shell may take to start. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Commands of a previous connection that must be ended. */
  readonly orphans: readonly string[];
  /** Variables that commands start without. */
  readonly keyVariables: readonly string[];
}

interface Job {
  readonly request: ShellRequest;
  readonly signal: AbortSignal | undefined;
  /** The only lane that may run the job. */
  readonly only: Lane | undefined;
  readonly resolve: (answer: Promise<ShellAnswer>) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * The shells of a workspace: some that run requests one after the other, and one for each command. The first is the
 * keeper: when its input ends, it ends all commands. If one is lost, the whole connection is.
 */
export class ShellConnection {
  readonly place: ShellPlace;
  readonly #start: StartCarrier;
  readonly #withoutKeys: Readonly<Record<string, null>>;
  readonly #keeper: Lane;
  readonly #lanes = new Set<Lane>();
  readonly #jobs: Job[] = [];
  readonly #commands = new Set<ShellCommand>();
  #startingLanes = 0;
  #spare: Promise<OpenShell | undefined> | undefined;
  #isSlow: boolean;
  #failure: Error | undefined;
  readonly #lost = Promise.withResolvers<Error>();
  /** Resolves when the connection is lost. */
  readonly lost = this.#lost.promise;

  /** @throws {WorkspaceError} `lost`: the workspace cannot be reached, or lacks a required tool */
  static async open(options: ShellConnectionOptions): Promise<ShellConnection> {
    const { start, limitMs, signal, orphans } = options;
    const begin = performance.now();
    const shell = await openShell(start, limitMs, signal);
    const isSlow = performance.now() - begin > slowStartMs;
    const keeper = new Lane(shell);
    try {
      const answer = orFailure(await keeper.run({ script: placeScript }), "/");
      const place = readPlace(answer.body);
      await keeper.run({ script: keeperScript(orphans) });
      return new ShellConnection(options, keeper, place, isSlow);
    } catch (error) {
      keeper.stop();
      if (error instanceof WorkspaceError) throw error;
      throw new WorkspaceError("lost", `workspace lost: ${(error as Error).message}`);
    }
  }

  private constructor(
    { start, keyVariables }: ShellConnectionOptions,
    keeper: Lane,
    place: ShellPlace,
    isSlow: boolean,
  ) {
    this.#start = start;
    this.#withoutKeys = Object.fromEntries(keyVariables.map((name) => [name, null]));
    this.#keeper = keeper;
    this.place = place;
    this.#isSlow = isSlow;
    this.#add(keeper);
  }

  /** The commands that were running when the connection was lost. */
  get orphans(): readonly string[] {
    return [...this.#commands].map(({ process }) => process).filter(isLasting);
  }

  /** Runs a request in the next free shell. */
  run(request: ShellRequest, signal?: AbortSignal, only?: Lane): Promise<ShellAnswer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (signal?.aborted) return Promise.reject(new WorkspaceError("aborted"));
    const { promise, resolve, reject } = Promise.withResolvers<ShellAnswer>();
    const timer = setTimeout(() => this.#addLane(), patienceMs);
    const job: Job = { request, signal, only, resolve, timer };
    const onAbort = () => {
      const at = this.#jobs.indexOf(job);
      if (at >= 0) this.#jobs.splice(at, 1);
      clearTimeout(timer);
      reject(new WorkspaceError("aborted"));
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#jobs.push(job);
    this.#next();
    return promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  /** Runs a request that reads input, in a separate shell. */
  async runWithInput(request: ShellRequest, signal?: AbortSignal): Promise<ShellAnswer> {
    const lane = new Lane(await this.#shell(signal));
    const onAbort = () => lane.stop();
    signal?.addEventListener("abort", onAbort, { once: true });
    void this.lost.then(onAbort);
    try {
      return await lane.run(request);
    } catch (error) {
      if (signal?.aborted) throw new WorkspaceError("aborted");
      throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      lane.end();
    }
  }

  async spawn(options: WorkspaceSpawnOptions, cwd: string): Promise<ShellCommand> {
    const { signal } = options;
    const shell = await this.#shell(signal);
    const signals = {
      send: async (process: string, name: string) =>
        readProcesses((await this.run({ script: signalScript(process, name) })).body),
      finish: async (processes: readonly string[]) => {
        if (processes.length > 0) await this.run({ script: finishScript(processes) });
      },
    };
    const environment = { ...this.#withoutKeys, ...options.environment };
    const plan = { options: { ...options, environment }, cwd, shell: this.place.description.shell };
    const text = `${commandScript(plan, shell.mark)}\n${shell.mark}\n`;
    void shell.carrier.write(Buffer.from(text));
    const onAbort = () => shell.carrier.stop();
    signal?.addEventListener("abort", onAbort, { once: true });
    void this.lost.then(onAbort);
    try {
      const command = await ShellCommand.started(shell, options, signals);
      this.#keep(command);
      return command;
    } catch (error) {
      if (!signal?.aborted) throw error;
      throw new WorkspaceError("aborted");
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends all running commands and all shells. */
  async close(): Promise<void> {
    const keeper = this.#keeper;
    const isLost = this.#failure !== undefined;
    this.#failure ??= new WorkspaceError("lost", "workspace lost: it was closed");
    if (!isLost) {
      keeper.end();
      await within(closeMs, keeper.ended);
    }
    this.#fail(this.#failure);
  }

  /** Tells the keeper about a command while it runs. */
  #keep(command: ShellCommand): void {
    this.#commands.add(command);
    this.#tellKeeper();
    const forget = () => {
      // Commands of a lost connection are ended by the next one.
      if (this.#failure !== undefined) return;
      this.#commands.delete(command);
      this.#tellKeeper();
    };
    command.done.then(forget, forget);
  }

  #tellKeeper(): void {
    const list = [...this.#commands].map(({ process }) => process).join(" ");
    this.run({ script: `t_commands='${list}'` }, undefined, this.#keeper).catch(() => undefined);
  }

  #next(): void {
    for (const lane of this.#lanes) {
      if (lane.isBusy || !lane.isUsable) continue;
      const at = this.#jobs.findIndex(({ only }) => only === undefined || only === lane);
      const [job] = at < 0 ? [] : this.#jobs.splice(at, 1);
      if (job === undefined) continue;
      clearTimeout(job.timer);
      this.#runIn(lane, job);
    }
  }

  #runIn(lane: Lane, { request, signal, resolve }: Job): void {
    const answer = lane.run(request);
    resolve(answer);
    const onAbort = () => {
      const timer = setTimeout(() => {
        if (lane === this.#keeper) return;
        this.#lanes.delete(lane);
        lane.stop();
      }, abortedMs);
      const clear = () => clearTimeout(timer);
      answer.then(clear, clear);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    const free = () => {
      signal?.removeEventListener("abort", onAbort);
      this.#next();
    };
    answer.then(free, free);
  }

  #addLane(): void {
    if (this.#failure !== undefined || this.#jobs.length === 0) return;
    if (this.#lanes.size + this.#startingLanes >= maxLanes) return;
    this.#startingLanes += 1;
    this.#shell()
      .then((shell) => this.#add(new Lane(shell)))
      // The existing shells do the work.
      .catch(() => undefined)
      .finally(() => {
        this.#startingLanes -= 1;
      });
  }

  #add(lane: Lane): void {
    this.#lanes.add(lane);
    void lane.ended.then((error) => {
      if (this.#lanes.has(lane)) this.#fail(error);
    });
    if (this.#failure === undefined) this.#next();
    else lane.stop();
  }

  /** A shell for one use; if starting is slow, the one in reserve. */
  async #shell(signal?: AbortSignal): Promise<OpenShell> {
    if (this.#failure !== undefined) throw this.#failure;
    // Taken before the await, because it is for a single caller.
    const ready = this.#spare;
    this.#spare = undefined;
    const shell = (await ready) ?? (await this.#open(signal));
    if (this.#isSlow && this.#spare === undefined) this.#prepare();
    return shell;
  }

  #prepare(): void {
    const spare = this.#open().catch(() => undefined);
    this.#spare = spare;
    void spare.then(async (shell) => {
      await shell?.carrier.ended;
      if (this.#spare === spare) this.#spare = undefined;
    });
    void this.lost.then(async () => (await spare)?.carrier.stop());
  }

  /** Nothing runs before a shell is open, so a start may be retried. */
  async #open(signal?: AbortSignal): Promise<OpenShell> {
    for (const pauseMs of pausesMs) {
      try {
        return await openShell(this.#start, startLimitMs, signal);
      } catch (error) {
        if (signal?.aborted || this.#failure !== undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return openShell(this.#start, startLimitMs, signal);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { timer, resolve } of this.#jobs.splice(0)) {
      clearTimeout(timer);
      resolve(Promise.reject(error));
    }
    for (const lane of this.#lanes) lane.stop();
    for (const command of this.#commands) command.fail(error);
    this.#lost.resolve(error);
  }
}

/** Ends commands with all their descendants. */
const endAll = `t_end_all() {
  t_all=
  for t_command in $1; do
    t_all="$t_all $(t_signal "\${t_command%%:*}" TERM "\${t_command#*:}")"
  done
  case $t_all in *[0-9]*) sleep 2; t_finish "$t_all" ;; esac
}`;

/** What the keeper does at the end of its input, and immediately with commands of a previous connection. */
function keeperScript(orphans: readonly string[]): string {
  const before =
    orphans.length === 0 ? "" : `( t_end_all '${orphans.join(" ")}' ) >/dev/null 2>&1 &\n`;
  return `${endAll}\n${before}t_commands=; t_last="$t_last; "'t_end_all "$t_commands" >/dev/null 2>&1'`;
}
