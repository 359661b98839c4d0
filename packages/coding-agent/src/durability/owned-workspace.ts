import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceCall,
  type WorkspaceChange,
  type WorkspaceDescription,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceOwner,
  type WorkspaceProcess,
  type WorkspaceReadOptions,
  type WorkspaceRemoveOptions,
  type WorkspaceSearchRequest,
  type WorkspaceSearchResult,
  type WorkspaceSpawnOptions,
  type WorkspaceStat,
  type WorkspaceStatOptions,
  type WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import type { CallContext, CallContexts } from "./call-context.ts";

export interface OwnedWorkspaceOptions {
  readonly owner: () => WorkspaceOwner;
  readonly contexts: CallContexts;
  readonly keepMs: number;
}

/** A workspace whose changes carry the session and its epoch, and whose commands outlive the host (decision 63). */
export class OwnedWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly durable: Workspace["durable"];
  readonly search?: (request: WorkspaceSearchRequest) => Promise<WorkspaceSearchResult>;
  readonly #inner: Workspace;
  readonly #options: OwnedWorkspaceOptions;

  constructor(inner: Workspace, options: OwnedWorkspaceOptions) {
    this.#inner = inner;
    this.#options = options;
    this.id = inner.id;
    this.cwd = inner.cwd;
    this.durable = inner.durable;
    const { search } = inner;
    if (search !== undefined) this.search = (request) => search.call(inner, request);
  }

  describe(options?: WorkspaceCall): Promise<WorkspaceDescription> {
    return this.#inner.describe(options);
  }

  stat(path: string, options?: WorkspaceStatOptions): Promise<WorkspaceStat | undefined> {
    return this.#inner.stat(path, options);
  }

  list(path: string, options?: WorkspaceAccess): Promise<readonly WorkspaceEntry[]> {
    return this.#inner.list(path, options);
  }

  read(path: string, options?: WorkspaceReadOptions): Promise<Uint8Array> {
    return this.#inner.read(path, options);
  }

  async write(path: string, bytes: Uint8Array, options?: WorkspaceWriteOptions): Promise<void> {
    await this.#changing()?.beforeWrite?.(path, bytes);
    await this.#inner.write(path, bytes, { ...options, ...this.#options.owner() });
  }

  async remove(path: string, options?: WorkspaceRemoveOptions): Promise<void> {
    this.#changing();
    await this.#inner.remove(path, { ...options, ...this.#options.owner() });
  }

  async rename(from: string, to: string, options?: WorkspaceChange): Promise<void> {
    this.#changing();
    await this.#inner.rename(from, to, { ...options, ...this.#options.owner() });
  }

  async createDirectory(path: string, options?: WorkspaceChange): Promise<void> {
    this.#changing();
    await this.#inner.createDirectory(path, { ...options, ...this.#options.owner() });
  }

  async spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    const context = this.#options.contexts.current;
    const { keepMs } = this.#options;
    const owner = this.#options.owner();
    if (context?.adopts !== undefined) return this.#adopt(context, context.adopts, options);
    const commandId = options.stdin === "open" ? undefined : context?.commandId;
    if (context === undefined || commandId === undefined) {
      return this.#inner.spawn({ ...options, ...owner });
    }
    context.commandId = undefined;
    return this.#inner.spawn({ ...options, ...owner, commandId, keepMs });
  }

  dispose(): Promise<void> {
    return this.#inner.dispose?.() ?? Promise.resolve();
  }

  async #adopt(
    context: CallContext,
    commandId: string,
    { onOutput, signal }: WorkspaceSpawnOptions,
  ): Promise<WorkspaceProcess> {
    const { owner, keepMs } = this.#options;
    try {
      if (this.durable === undefined || context.isMissing !== undefined) throw notStarted();
      context.isMissing = false;
      const options = { ...owner(), commandId, fromOffset: 0, keepMs, onOutput, signal };
      return await this.durable.adopt(options);
    } catch (error) {
      if (isWorkspaceError(error, "not_found", "unsupported")) context.isMissing = true;
      throw error;
    }
  }

  /** A call that goes on with a command changes nothing else: nobody was asked whether it may. */
  #changing(): CallContext | undefined {
    const { current } = this.#options.contexts;
    if (current?.adopts !== undefined) throw notStarted();
    return current;
  }
}

function notStarted(): WorkspaceError {
  return new WorkspaceError("failed", "A call of an earlier host starts nothing");
}
