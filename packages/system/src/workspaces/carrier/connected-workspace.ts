import type { WorkspaceStatus } from "@tau-agent/rpc-protocol";
import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceCall,
  type WorkspaceChange,
  type WorkspaceDescription,
  type WorkspaceDurable,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceProcess,
  type WorkspaceReadOptions,
  type WorkspaceRemoveOptions,
  type WorkspaceSandboxes,
  type WorkspaceSearchRequest,
  type WorkspaceSearchResult,
  type WorkspaceSpawnOptions,
  type WorkspaceStat,
  type WorkspaceStatOptions,
  type WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { unlessAborted } from "../../base/unless-aborted.ts";
import { KeptProcess } from "./kept-process.ts";
import { KeptSandboxes } from "./kept-sandboxes.ts";

/** One connection to a place, until it is lost. */
export interface Connection {
  readonly workspace: Workspace;
}

export interface Reconnection {
  /** Makes a connection. `onLost` is called once when that is lost again. */
  readonly connect: (options: {
    readonly onLost: (reason: string) => void;
    /** How long it may take. */
    readonly limitMs: number;
    readonly signal: AbortSignal;
  }) => Promise<Connection>;
  readonly reconnectMs: number;
  readonly connectMs: number;
  readonly onStatus?: ((status: WorkspaceStatus, reason?: string) => void) | undefined;
  /** Resolves when the place can be reached again, before the next try would have come. */
  readonly reachable?: (() => Promise<void>) | undefined;
  /** Called when it is disposed of. */
  readonly onDispose?: (() => void) | undefined;
}

const firstPauseMs = 200;
const maxPauseMs = 10_000;
/** A try takes at least so long, however little of the time to reconnect is left. */
const minTryMs = 1_000;

/**
 * A place behind connections of which each may be lost (decision 61). What runs then ends as `lost`,
 * and is never repeated: it may have happened. New calls wait for the next connection.
 */
export class ConnectedWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly search?: (request: WorkspaceSearchRequest) => Promise<WorkspaceSearchResult>;
  readonly durable: WorkspaceDurable | undefined;
  readonly sandboxes: WorkspaceSandboxes | undefined;
  readonly #keptSandboxes = new KeptSandboxes();
  readonly #reconnection: Reconnection;
  readonly #disposed = new AbortController();
  #workspace: Workspace | undefined;
  #connecting: Promise<Workspace> | undefined;
  #description: WorkspaceDescription | undefined;

  /** Makes the first connection, and fails as that does. */
  static async connect(
    reconnection: Reconnection,
    signal?: AbortSignal,
  ): Promise<ConnectedWorkspace> {
    let connected: ConnectedWorkspace | undefined;
    let early: string | undefined;
    const onLost = (reason: string): void => {
      if (connected === undefined) early = reason;
      else connected.#lose(reason);
    };
    const given = signal ?? new AbortController().signal;
    const { connectMs: limitMs } = reconnection;
    const { workspace } = await reconnection.connect({ onLost, limitMs, signal: given });
    connected = new ConnectedWorkspace(workspace, reconnection);
    if (early !== undefined) connected.#lose(early);
    return connected;
  }

  private constructor(workspace: Workspace, reconnection: Reconnection) {
    this.id = workspace.id;
    this.cwd = workspace.cwd;
    this.#workspace = workspace;
    this.#reconnection = reconnection;
    this.durable = workspace.durable && {
      adopt: (options) => {
        const adopt = (onOutput: WorkspaceSpawnOptions["onOutput"], fromOffset: number) =>
          this.#use(options.signal, (current) => {
            return durableOf(current).adopt({ ...options, onOutput, fromOffset });
          });
        const first = ({ onOutput }: Pick<WorkspaceSpawnOptions, "onOutput">) =>
          adopt(onOutput, options.fromOffset);
        return KeptProcess.start(options, first, (onOutput, seen) => {
          return adopt(onOutput, options.fromOffset + seen);
        });
      },
      endCommands: (options) =>
        this.#use(undefined, (current) => durableOf(current).endCommands(options)),
    };
    this.sandboxes = workspace.sandboxes && {
      open: (request) =>
        this.#use(undefined, (current) => this.#keptSandboxes.open(current, request)),
    };
    if (workspace.search === undefined) return;
    this.search = (request) =>
      this.#use(request.signal, (current) => {
        if (current.search === undefined) throw new WorkspaceError("unsupported");
        return current.search(request);
      });
  }

  get status(): WorkspaceStatus {
    return this.#workspace === undefined ? "lost" : "connected";
  }

  /** Asked of the first connection only: a place does not change. */
  async describe(options: WorkspaceCall = {}): Promise<WorkspaceDescription> {
    if (options.signal?.aborted) throw new WorkspaceError("aborted");
    this.#description ??= await this.#use(options.signal, (current) => current.describe(options));
    return this.#description;
  }

  stat(path: string, options: WorkspaceStatOptions = {}): Promise<WorkspaceStat | undefined> {
    return this.#use(options.signal, (current) => current.stat(path, options));
  }

  list(path: string, options: WorkspaceAccess = {}): Promise<readonly WorkspaceEntry[]> {
    return this.#use(options.signal, (current) => current.list(path, options));
  }

  read(path: string, options: WorkspaceReadOptions = {}): Promise<Uint8Array> {
    return this.#use(options.signal, (current) => current.read(path, options));
  }

  write(path: string, bytes: Uint8Array, options: WorkspaceWriteOptions = {}): Promise<void> {
    return this.#use(options.signal, (current) => current.write(path, bytes, options));
  }

  remove(path: string, options: WorkspaceRemoveOptions = {}): Promise<void> {
    return this.#use(options.signal, (current) => current.remove(path, options));
  }

  rename(from: string, to: string, options: WorkspaceChange = {}): Promise<void> {
    return this.#use(options.signal, (current) => current.rename(from, to, options));
  }

  createDirectory(path: string, options: WorkspaceChange = {}): Promise<void> {
    return this.#use(options.signal, (current) => current.createDirectory(path, options));
  }

  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    const { commandId } = options;
    const start = (more: WorkspaceSpawnOptions) =>
      this.#use(options.signal, (current) => current.spawn(more));
    if (commandId === undefined) return start(options);
    return KeptProcess.start(options, start, (onOutput, fromOffset) => {
      const { session = "", epoch = 0, keepMs, signal } = options;
      const again = { session, epoch, keepMs, signal, commandId, onOutput, fromOffset };
      return this.#use(signal, (current) => durableOf(current).adopt(again));
    });
  }

  async dispose(): Promise<void> {
    if (this.#disposed.signal.aborted) return;
    this.#disposed.abort();
    const workspace = this.#workspace;
    this.#workspace = undefined;
    await workspace?.dispose?.();
    await this.#connecting?.catch(() => {});
    this.#reconnection.onDispose?.();
  }

  async #use<Value>(
    signal: AbortSignal | undefined,
    call: (workspace: Workspace) => Promise<Value>,
  ): Promise<Value> {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    return call(this.#workspace ?? (await this.#connection(signal)));
  }

  /** The next connection, for which all calls wait together. */
  async #connection(signal: AbortSignal | undefined): Promise<Workspace> {
    if (this.#disposed.signal.aborted) throw lost("it was closed");
    const { connectMs } = this.#reconnection;
    const connecting = this.#connecting ?? this.#waitFor(this.#tryOnce(connectMs));
    return unlessAborted(connecting, signal, () => new WorkspaceError("aborted"));
  }

  #lose(reason: string): void {
    if (this.#disposed.signal.aborted || this.#workspace === undefined) return;
    this.#workspace = undefined;
    this.#waitFor(this.#reconnect(reason));
    this.#reconnection.onStatus?.("lost", reason);
  }

  #waitFor(work: Promise<Workspace>): Promise<Workspace> {
    this.#connecting = work;
    const forget = (): void => {
      if (this.#connecting === work) this.#connecting = undefined;
    };
    // Perhaps nobody else waits for it.
    work.then(forget, forget);
    return work;
  }

  async #reconnect(reason: string): Promise<Workspace> {
    const { reconnectMs, connectMs } = this.#reconnection;
    const until = performance.now() + reconnectMs;
    let failure: unknown = lost(reason);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw failure;
      await this.#pause(Math.min(pauseMs, leftMs));
      try {
        const limitMs = Math.max(minTryMs, until - performance.now());
        return await this.#tryOnce(Math.min(connectMs, limitMs));
      } catch (error) {
        failure = error;
      }
    }
  }

  async #tryOnce(limitMs: number): Promise<Workspace> {
    const { signal } = this.#disposed;
    let workspace: Workspace | undefined;
    let early: string | undefined;
    const onLost = (reason: string): void => {
      if (workspace === undefined) early = reason;
      else if (this.#workspace === workspace) this.#lose(reason);
    };
    try {
      ({ workspace } = await this.#reconnection.connect({ onLost, limitMs, signal }));
    } catch (error) {
      throw isWorkspaceError(error) ? error : lost(Object(error).message, error);
    }
    if (early !== undefined) throw lost(early);
    if (signal.aborted) {
      await workspace.dispose?.();
      throw lost("it was closed");
    }
    try {
      await this.#keptSandboxes.openAgain(workspace);
    } catch (error) {
      await workspace.dispose?.();
      throw lost(Object(error).message, error);
    }
    if (early !== undefined) throw lost(early);
    this.#workspace = workspace;
    this.#reconnection.onStatus?.("connected");
    return workspace;
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#disposed;
    if (signal.aborted) throw lost("it was closed");
    const over = new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
    const { reachable } = this.#reconnection;
    await unlessAborted(Promise.race([over, ...(reachable ? [reachable()] : [])]), signal, () =>
      lost("it was closed"),
    );
  }
}

function durableOf({ durable }: Workspace): WorkspaceDurable {
  if (durable === undefined) throw new WorkspaceError("unsupported");
  return durable;
}

function lost(reason: string, cause?: unknown): WorkspaceError {
  return new WorkspaceError("lost", `workspace lost: ${reason}`, { cause });
}
