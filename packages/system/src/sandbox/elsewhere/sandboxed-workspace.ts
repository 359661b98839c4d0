import type {
  Workspace,
  WorkspaceAccess,
  WorkspaceCall,
  WorkspaceChange,
  WorkspaceDescription,
  WorkspaceDurable,
  WorkspaceEntry,
  WorkspaceProcess,
  WorkspaceReadOptions,
  WorkspaceRemoveOptions,
  WorkspaceSandboxUse,
  WorkspaceSearchRequest,
  WorkspaceSearchResult,
  WorkspaceSpawnOptions,
  WorkspaceStat,
  WorkspaceStatOptions,
  WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";

/** A place of which every call acts in one sandbox there. */
export class SandboxedWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly durable: WorkspaceDurable | undefined;
  readonly search?: (request: WorkspaceSearchRequest) => Promise<WorkspaceSearchResult>;
  readonly #inner: Workspace;
  readonly #use: () => WorkspaceSandboxUse;

  constructor(inner: Workspace, use: () => WorkspaceSandboxUse) {
    this.#inner = inner;
    this.#use = use;
    this.id = inner.id;
    this.cwd = inner.cwd;
    this.durable = inner.durable;
    const { search } = inner;
    if (search === undefined) return;
    this.search = (request) => search.call(inner, { ...request, sandbox: use() });
  }

  describe(options?: WorkspaceCall): Promise<WorkspaceDescription> {
    return this.#inner.describe(options);
  }

  stat(path: string, options?: WorkspaceStatOptions): Promise<WorkspaceStat | undefined> {
    return this.#inner.stat(path, this.#inside(options));
  }

  list(path: string, options?: WorkspaceAccess): Promise<readonly WorkspaceEntry[]> {
    return this.#inner.list(path, this.#inside(options));
  }

  read(path: string, options?: WorkspaceReadOptions): Promise<Uint8Array> {
    return this.#inner.read(path, this.#inside(options));
  }

  write(path: string, bytes: Uint8Array, options?: WorkspaceWriteOptions): Promise<void> {
    return this.#inner.write(path, bytes, this.#inside(options));
  }

  remove(path: string, options?: WorkspaceRemoveOptions): Promise<void> {
    return this.#inner.remove(path, this.#inside(options));
  }

  rename(from: string, to: string, options?: WorkspaceChange): Promise<void> {
    return this.#inner.rename(from, to, this.#inside(options));
  }

  createDirectory(path: string, options?: WorkspaceChange): Promise<void> {
    return this.#inner.createDirectory(path, this.#inside(options));
  }

  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    return this.#inner.spawn({ ...options, sandbox: this.#use() });
  }

  #inside<Options extends WorkspaceAccess>(options: Options | undefined): Options {
    return { ...options, sandbox: this.#use() } as Options;
  }
}
