import type { WorkspaceStatus } from "@tau-agent/rpc-protocol";
import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceCall,
  type WorkspaceDescription,
  type WorkspaceDurable,
  WorkspaceError,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { unlessAborted } from "../../base/unless-aborted.ts";
import { startKeptProcess } from "./kept-process.ts";
import { KeptSandboxes } from "./kept-sandboxes.ts";

/** One connection to a workspace, until it is lost. */
export interface Connection {
  readonly workspace: Workspace;
}

export interface Reconnection {
  /** Opens a connection. `onLost` is called once when that connection is lost. */
  readonly connect: (options: {
    readonly onLost: (reason: string) => void;
    /** How long connecting may take. */
    readonly limitMs: number;
    readonly signal: AbortSignal;
  }) => Promise<Connection>;
  readonly reconnectMs: number;
  readonly connectMs: number;
  readonly onStatus?: ((status: WorkspaceStatus, reason?: string) => void) | undefined;
  /** Resolves when the workspace is reachable again, which may be before the next attempt. */
  readonly reachable?: (() => Promise<void>) | undefined;
  /** Called when the workspace is disposed of. */
  readonly onDispose?: (() => void) | undefined;
}

const firstPauseMs = 200;
const maxPauseMs = 10_000;
/** The minimum time for an attempt, even if less of the reconnect time is left. */
const minTryMs = 1_000;

/**
 * A workspace behind connections, each of which may be lost (decision 61). Calls that are running then end as
 * `lost` and are never repeated, because they may have taken effect. New calls wait for the next connection.
 */
export interface ConnectedWorkspace extends Workspace {
  readonly status: WorkspaceStatus;
  dispose(): Promise<void>;
}

/** Opens the first connection, and fails if that fails. */
export async function openConnectedWorkspace(
  reconnection: Reconnection,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConnectedWorkspace> {
  let connections: Connections | undefined;
  let early: string | undefined;
  const onLost = (reason: string): void => {
    if (connections === undefined) early = reason;
    else connections.lose(reason);
  };
  const { connectMs: limitMs } = reconnection;
  const { workspace } = await reconnection.connect({ onLost, limitMs, signal });
  connections = new Connections(workspace, reconnection);
  if (early !== undefined) connections.lose(early);
  return workspaceOver(workspace, connections);
}

function workspaceOver(first: Workspace, connections: Connections): ConnectedWorkspace {
  const { use } = connections;
  let description: WorkspaceDescription | undefined;
  return {
    id: first.id,
    cwd: first.cwd,
    get status() {
      return connections.status;
    },
    ...(first.durable && { durable: durableOver(connections) }),
    ...(first.sandboxes && {
      sandboxes: {
        open: (request) => use({}, (current) => connections.sandboxes.open(current, request)),
      },
    }),
    ...(first.search && {
      search: (request) =>
        use(request, (current) => {
          if (current.search === undefined) throw new WorkspaceError("unsupported");
          return current.search(request);
        }),
    }),
    /** Asks only the first connection: the description of a workspace does not change. */
    async describe(options = {}) {
      if (options.signal?.aborted) throw new WorkspaceError("aborted");
      description ??= await use(options, (current) => current.describe(options));
      return description;
    },
    stat: (path, options) => use(options, (current) => current.stat(path, options)),
    list: (path, options) => use(options, (current) => current.list(path, options)),
    read: (path, options) => use(options, (current) => current.read(path, options)),
    write: (path, bytes, options) => use(options, (current) => current.write(path, bytes, options)),
    remove: (path, options) => use(options, (current) => current.remove(path, options)),
    rename: (from, to, options) => use(options, (current) => current.rename(from, to, options)),
    createDirectory: (path, options) =>
      use(options, (current) => current.createDirectory(path, options)),
    spawn(options) {
      const { commandId, session = "", epoch = 0, keepMs, signal } = options;
      const start = (more: WorkspaceSpawnOptions) => use(options, (current) => current.spawn(more));
      if (commandId === undefined) return start(options);
      return startKeptProcess(options, start, (onOutput, fromOffset) => {
        const again = { session, epoch, keepMs, signal, commandId, onOutput, fromOffset };
        return use(options, (current) => durableOf(current).adopt(again));
      });
    },
    dispose: () => connections.dispose(),
  };
}

function durableOver({ use }: Connections): WorkspaceDurable {
  return {
    adopt(options) {
      const { fromOffset: begin } = options;
      const adopt = (onOutput: WorkspaceSpawnOptions["onOutput"], fromOffset: number) =>
        use(options, (current) => durableOf(current).adopt({ ...options, onOutput, fromOffset }));
      return startKeptProcess(
        options,
        ({ onOutput }) => adopt(onOutput, begin),
        (onOutput, seen) => adopt(onOutput, begin + seen),
      );
    },
    endCommands: (options) => use({}, (current) => durableOf(current).endCommands(options)),
  };
}

/** The successive connections to a workspace. */
class Connections {
  readonly sandboxes = new KeptSandboxes();
  readonly #reconnection: Reconnection;
  readonly #disposed = new AbortController();
  #workspace: Workspace | undefined;
  #connecting: Promise<Workspace> | undefined;

  constructor(workspace: Workspace, reconnection: Reconnection) {
    this.#workspace = workspace;
    this.#reconnection = reconnection;
  }

  get status(): WorkspaceStatus {
    return this.#workspace === undefined ? "lost" : "connected";
  }

  /** Makes a call, over a new connection if there is none. */
  readonly use = async <Value>(
    { signal }: WorkspaceCall = {},
    call: (workspace: Workspace) => Promise<Value>,
  ): Promise<Value> => {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    return call(this.#workspace ?? (await this.#connection(signal)));
  };

  async dispose(): Promise<void> {
    if (this.#disposed.signal.aborted) return;
    this.#disposed.abort();
    const workspace = this.#workspace;
    this.#workspace = undefined;
    await workspace?.dispose?.();
    await this.#connecting?.catch(() => {});
    this.#reconnection.onDispose?.();
  }

  /** The next connection, which all calls await together. */
  async #connection(signal: AbortSignal | undefined): Promise<Workspace> {
    if (this.#disposed.signal.aborted) throw lost("it was closed");
    const { connectMs } = this.#reconnection;
    const connecting = this.#connecting ?? this.#waitFor(this.#tryOnce(connectMs));
    return unlessAborted(connecting, signal, () => new WorkspaceError("aborted"));
  }

  lose(reason: string): void {
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
    // It may be that no call awaits it.
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
      else if (this.#workspace === workspace) this.lose(reason);
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
      await this.sandboxes.openAgain(workspace);
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
