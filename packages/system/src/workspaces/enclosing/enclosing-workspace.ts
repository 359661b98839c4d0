import { join } from "node:path";
import {
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceCall,
  type WorkspaceChange,
  type WorkspaceDescription,
  type WorkspaceDurable,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceProcess,
  type WorkspaceReach,
  type WorkspaceReadOptions,
  type WorkspaceRemoveOptions,
  type WorkspaceSandbox,
  type WorkspaceSandboxes,
  type WorkspaceSandboxRequest,
  type WorkspaceSandboxUse,
  type WorkspaceSearchRequest,
  type WorkspaceSearchResult,
  type WorkspaceSpawnOptions,
  type WorkspaceStat,
  type WorkspaceStatOptions,
  type WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { isInside } from "../../base/files/isolated-tree.ts";
import { realPlaceOf } from "../../base/files/real-place.ts";
import type { SessionSandbox } from "../../sandbox/session-sandbox.ts";
import type { FileWriting } from "../local/file-writing.ts";
import type { LocalWorkspace } from "../local/local-workspace.ts";

interface OpenSandbox {
  readonly sandbox: SessionSandbox;
  /** This machine, with commands in the sandbox. */
  readonly workspace: LocalWorkspace;
  /** Where the session works at this moment. */
  readonly folder: { cwd: string };
}

type Action = "read" | "write";

/** What a call in a sandbox really is. */
interface Judged<Options> {
  readonly workspace: LocalWorkspace;
  readonly path: string;
  readonly options: Options;
  readonly sandbox?: SessionSandbox | undefined;
}

/**
 * This machine for a host elsewhere, with the sandboxes that the host opens here: the calls that name one are
 * held to it as those of a session on this machine are to theirs.
 */
export class EnclosingWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly durable: WorkspaceDurable | undefined;
  readonly sandboxes: WorkspaceSandboxes = { open: (request) => this.#openSandbox(request) };
  readonly #local: LocalWorkspace;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #open = new Map<string, OpenSandbox>();

  /** @param environment the variables of commands, by which the sandbox finds what to close */
  constructor(local: LocalWorkspace, environment: Readonly<Record<string, string | undefined>>) {
    this.#local = local;
    this.#environment = environment;
    this.id = local.id;
    this.cwd = local.cwd;
    this.durable = local.durable;
  }

  describe(options?: WorkspaceCall): Promise<WorkspaceDescription> {
    return this.#local.describe(options);
  }

  /** Only the private folders count, as on this machine: nothing is opened. */
  async stat(path: string, options: WorkspaceStatOptions = {}): Promise<WorkspaceStat | undefined> {
    const { sandbox: use, ...own } = options;
    if (use === undefined) return this.#local.stat(path, own);
    return this.#local.stat(this.#get(use).sandbox.hostPath(path), own);
  }

  async list(path: string, options: WorkspaceAccess = {}): Promise<readonly WorkspaceEntry[]> {
    const { sandbox, ...call } = this.#judge("read", path, options);
    const entries = await call.workspace.list(call.path, call.options);
    if (sandbox === undefined) return entries;
    return entries.filter(({ name }) => sandbox.mayRead(join(call.path, name)));
  }

  async read(path: string, options: WorkspaceReadOptions = {}): Promise<Uint8Array> {
    const call = this.#judge("read", path, options);
    return call.workspace.read(call.path, call.options);
  }

  async write(path: string, bytes: Uint8Array, options: WorkspaceWriteOptions = {}): Promise<void> {
    const call = this.#judge("write", path, options);
    await call.workspace.write(call.path, bytes, call.options);
  }

  /** {@link EnclosingWorkspace.write} in parts. */
  async openUpload(path: string, options: WorkspaceWriteOptions = {}): Promise<FileWriting> {
    const call = this.#judge("write", path, options);
    return call.workspace.openUpload(call.path, call.options);
  }

  async remove(path: string, options: WorkspaceRemoveOptions = {}): Promise<void> {
    const call = this.#judge("write", path, options);
    await call.workspace.remove(call.path, call.options);
  }

  async rename(from: string, to: string, options: WorkspaceChange = {}): Promise<void> {
    const target = this.#judge("write", to, options);
    const call = this.#judge("write", from, options);
    await call.workspace.rename(call.path, target.path, call.options);
  }

  async createDirectory(path: string, options: WorkspaceChange = {}): Promise<void> {
    const call = this.#judge("write", path, options);
    await call.workspace.createDirectory(call.path, call.options);
  }

  async search(request: WorkspaceSearchRequest): Promise<WorkspaceSearchResult> {
    const { workspace, path, options } = this.#judge("read", request.path, request);
    return workspace.search({ ...options, path });
  }

  async spawn({ sandbox: use, ...options }: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    if (use === undefined) return this.#local.spawn(options);
    return this.#get(use).workspace.spawn({ ...options, cwd: options.cwd ?? use.cwd });
  }

  async dispose(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await this.#local.dispose();
    await Promise.all(open.map(({ workspace }) => workspace.dispose()));
    await Promise.all(open.map(({ sandbox }) => sandbox.close()));
  }

  async #openSandbox(request: WorkspaceSandboxRequest): Promise<WorkspaceSandbox> {
    const { sandboxId, cwd } = request;
    if (this.#open.has(sandboxId)) {
      throw new WorkspaceError("exists", `The sandbox ${sandboxId} is open already`);
    }
    const { homeDirectory, temporaryDirectory } = await this.describe();
    const { serveSandbox } = await import("../../sandbox/serve-sandbox.ts");
    const folder = { cwd };
    const { sandbox, ...result } = await serveSandbox(request, {
      ...{ environment: this.#environment, homeDirectory, temporaryDirectory },
      cwd: () => folder.cwd,
    });
    const opened = { sandbox, workspace: this.#local.withSandbox(sandbox), folder };
    this.#open.set(sandboxId, opened);
    return {
      ...result,
      close: async () => {
        if (this.#open.get(sandboxId) !== opened) return;
        this.#open.delete(sandboxId);
        await opened.workspace.dispose();
        await sandbox.close();
      },
    };
  }

  /** @throws {WorkspaceError} `sandbox_unavailable`: a call that names a sandbox never acts without it */
  #get({ id, cwd }: WorkspaceSandboxUse): OpenSandbox {
    const open = this.#open.get(id);
    if (open === undefined) throw new WorkspaceError("sandbox_unavailable");
    open.folder.cwd = cwd;
    return open;
  }

  /** @throws {WorkspaceError} `not_allowed`, `sandbox_unavailable` */
  #judge<Options extends WorkspaceAccess>(
    action: Action,
    path: string,
    { sandbox: use, ...own }: Options,
  ): Judged<Omit<Options, "sandbox">> {
    if (use === undefined) return { workspace: this.#local, path, options: own };
    const { sandbox, workspace } = this.#get(use);
    const real = sandbox.hostPath(path);
    const refusal = sandbox.refusalOf(action, real);
    if (refusal !== undefined) throw new WorkspaceError("not_allowed", refusal, { path: real });
    const within = bothOf(own.within, sandbox.reach(action));
    return { workspace, path: real, options: { ...own, within }, sandbox };
  }
}

/** What two limits both allow. */
function bothOf(one: WorkspaceReach | undefined, other: WorkspaceReach): WorkspaceReach {
  if (one === undefined) return other;
  const inner = one.allow.flatMap((path) => {
    const real = realPlaceOf(path);
    return other.allow.flatMap((each) =>
      isInside(each, real) ? [real] : isInside(real, each) ? [each] : [],
    );
  });
  return { allow: inner, deny: [...one.deny, ...other.deny] };
}
