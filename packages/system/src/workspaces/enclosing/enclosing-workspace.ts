import { join } from "node:path";
import {
  type Workspace,
  type WorkspaceAccess,
  WorkspaceError,
  type WorkspaceReach,
  type WorkspaceSandbox,
  type WorkspaceSandboxRequest,
  type WorkspaceSandboxUse,
  type WorkspaceSearchRequest,
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
  /** The current working folder of the session. */
  readonly folder: { cwd: string };
}

/** A call after the sandbox has checked and translated it. */
interface Judged<Options> {
  readonly workspace: LocalWorkspace;
  readonly path: string;
  readonly options: Options;
  readonly sandbox?: SessionSandbox | undefined;
}

interface EnclosingWorkspace extends Workspace {
  /** {@link Workspace.write} in parts. */
  openUpload(path: string, options?: WorkspaceWriteOptions): Promise<FileWriting>;
  dispose(): Promise<void>;
}

/**
 * This machine as a workspace for a host elsewhere, with the sandboxes that the host opens here. Calls that
 * name a sandbox are confined to it, like those of a session on this machine.
 *
 * @param environment the variables of commands, in which the sandbox finds sockets to close
 */
export function enclosingWorkspace(
  local: LocalWorkspace,
  environment: Readonly<Record<string, string | undefined>>,
): EnclosingWorkspace {
  const open = new Map<string, OpenSandbox>();

  /** @throws {WorkspaceError} `sandbox_unavailable`: a call that names a sandbox never runs without it */
  const openOf = ({ id, cwd }: WorkspaceSandboxUse): OpenSandbox => {
    const found = open.get(id);
    if (found === undefined) throw new WorkspaceError("sandbox_unavailable");
    found.folder.cwd = cwd;
    return found;
  };

  /** @throws {WorkspaceError} `not_allowed`, `sandbox_unavailable` */
  const judge = <Options extends WorkspaceAccess>(
    action: "read" | "write",
    path: string,
    { sandbox: use, ...own }: Options,
  ): Judged<Omit<Options, "sandbox">> => {
    if (use === undefined) return { workspace: local, path, options: own };
    const { sandbox, workspace } = openOf(use);
    const real = sandbox.hostPath(path);
    const refusal = sandbox.refusalOf(action, real);
    if (refusal !== undefined) throw new WorkspaceError("not_allowed", refusal, { path: real });
    const within = bothOf(own.within, sandbox.reach(action));
    return { workspace, path: real, options: { ...own, within }, sandbox };
  };

  const openSandbox = async (request: WorkspaceSandboxRequest): Promise<WorkspaceSandbox> => {
    const { sandboxId, cwd } = request;
    if (open.has(sandboxId)) {
      throw new WorkspaceError("exists", `The sandbox ${sandboxId} is open already`);
    }
    const { homeDirectory, temporaryDirectory } = await local.describe();
    const { serveSandbox } = await import("../../sandbox/serve-sandbox.ts");
    const folder = { cwd };
    const { sandbox, ...result } = await serveSandbox(request, {
      ...{ environment, homeDirectory, temporaryDirectory },
      cwd: () => folder.cwd,
    });
    const opened = { sandbox, workspace: local.withSandbox(sandbox), folder };
    open.set(sandboxId, opened);
    return {
      ...result,
      close: async () => {
        if (open.get(sandboxId) !== opened) return;
        open.delete(sandboxId);
        await opened.workspace.dispose();
        await sandbox.close();
      },
    };
  };

  return {
    id: local.id,
    cwd: local.cwd,
    durable: local.durable,
    sandboxes: { open: openSandbox },
    describe: (options) => local.describe(options),
    /** Only translates paths of private folders, as on this machine: nothing is opened. */
    async stat(path, { sandbox: use, ...own } = {}) {
      return local.stat(use === undefined ? path : openOf(use).sandbox.hostPath(path), own);
    },
    async list(path, options = {}) {
      const { sandbox, ...call } = judge("read", path, options);
      const entries = await call.workspace.list(call.path, call.options);
      if (sandbox === undefined) return entries;
      return entries.filter(({ name }) => sandbox.mayRead(join(call.path, name)));
    },
    async read(path, options = {}) {
      const call = judge("read", path, options);
      return call.workspace.read(call.path, call.options);
    },
    async write(path, bytes, options = {}) {
      const call = judge("write", path, options);
      await call.workspace.write(call.path, bytes, call.options);
    },
    async openUpload(path, options = {}) {
      const call = judge("write", path, options);
      return call.workspace.openUpload(call.path, call.options);
    },
    async remove(path, options = {}) {
      const call = judge("write", path, options);
      await call.workspace.remove(call.path, call.options);
    },
    async rename(from, to, options = {}) {
      const target = judge("write", to, options);
      const call = judge("write", from, options);
      await call.workspace.rename(call.path, target.path, call.options);
    },
    async createDirectory(path, options = {}) {
      const call = judge("write", path, options);
      await call.workspace.createDirectory(call.path, call.options);
    },
    async search(request: WorkspaceSearchRequest) {
      const { workspace, path, options } = judge("read", request.path, request);
      return workspace.search({ ...options, path });
    },
    async spawn({ sandbox: use, ...options }) {
      if (use === undefined) return local.spawn(options);
      return openOf(use).workspace.spawn({ ...options, cwd: options.cwd ?? use.cwd });
    },
    async dispose() {
      const opened = [...open.values()];
      open.clear();
      await local.dispose();
      await Promise.all(opened.map(({ workspace }) => workspace.dispose()));
      await Promise.all(opened.map(({ sandbox }) => sandbox.close()));
    },
  };
}

/** The limits that allow only what both limits allow. */
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
