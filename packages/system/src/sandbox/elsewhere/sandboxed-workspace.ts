import type {
  Workspace,
  WorkspaceAccess,
  WorkspaceSandboxUse,
} from "@tau-agent/rpc-protocol/workspace";

/** A workspace in which every call acts in the same sandbox. */
export function sandboxedWorkspace(inner: Workspace, use: () => WorkspaceSandboxUse): Workspace {
  const inside = <Options extends WorkspaceAccess>(options: Options | undefined) =>
    ({ ...options, sandbox: use() }) as Options;
  const { search } = inner;
  return {
    id: inner.id,
    cwd: inner.cwd,
    durable: inner.durable,
    ...(search && { search: (request) => search.call(inner, inside(request)) }),
    describe: (options) => inner.describe(options),
    stat: (path, options) => inner.stat(path, inside(options)),
    list: (path, options) => inner.list(path, inside(options)),
    read: (path, options) => inner.read(path, inside(options)),
    write: (path, bytes, options) => inner.write(path, bytes, inside(options)),
    remove: (path, options) => inner.remove(path, inside(options)),
    rename: (from, to, options) => inner.rename(from, to, inside(options)),
    createDirectory: (path, options) => inner.createDirectory(path, inside(options)),
    spawn: (options) => inner.spawn(inside(options)),
  };
}
