import {
  isWorkspaceError,
  type Workspace,
  WorkspaceError,
  type WorkspaceOwner,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import type { CallContext, CallContexts } from "./call-context.ts";

interface OwnedWorkspaceOptions {
  readonly owner: () => WorkspaceOwner;
  readonly contexts: CallContexts;
  readonly keepMs: number;
}

/** A workspace whose changes carry the session and its epoch, and whose commands outlive the host (decision 63). */
export function ownedWorkspace(inner: Workspace, options: OwnedWorkspaceOptions): Workspace {
  const { owner, contexts, keepMs } = options;
  const { durable, search } = inner;
  /** A call that continues a command may change nothing else, because nobody approved that. */
  const changing = (): CallContext | undefined => {
    if (contexts.current?.adopts !== undefined) throw notStarted();
    return contexts.current;
  };
  const adopt = async (
    context: CallContext,
    commandId: string,
    { onOutput, signal }: WorkspaceSpawnOptions,
  ): Promise<WorkspaceProcess> => {
    try {
      if (durable === undefined || context.isMissing !== undefined) throw notStarted();
      context.isMissing = false;
      const adopted = { ...owner(), commandId, fromOffset: 0, keepMs, onOutput, signal };
      return await durable.adopt(adopted);
    } catch (error) {
      if (isWorkspaceError(error, "not_found", "unsupported")) context.isMissing = true;
      throw error;
    }
  };
  return {
    id: inner.id,
    cwd: inner.cwd,
    durable,
    ...(search && { search: (request) => search.call(inner, request) }),
    describe: (call) => inner.describe(call),
    stat: (path, call) => inner.stat(path, call),
    list: (path, call) => inner.list(path, call),
    read: (path, call) => inner.read(path, call),
    async write(path, bytes, call) {
      await changing()?.beforeWrite?.(path, bytes);
      await inner.write(path, bytes, { ...call, ...owner() });
    },
    async remove(path, call) {
      changing();
      await inner.remove(path, { ...call, ...owner() });
    },
    async rename(from, to, call) {
      changing();
      await inner.rename(from, to, { ...call, ...owner() });
    },
    async createDirectory(path, call) {
      changing();
      await inner.createDirectory(path, { ...call, ...owner() });
    },
    async spawn(call) {
      // A job with its own command id belongs to no host.
      if (call.commandId !== undefined) return inner.spawn(call);
      const context = contexts.current;
      const owned = { ...call, ...owner() };
      if (context?.adopts !== undefined) return adopt(context, context.adopts, call);
      const commandId = call.stdin === "open" ? undefined : context?.commandId;
      if (context === undefined || commandId === undefined) return inner.spawn(owned);
      context.commandId = undefined;
      return inner.spawn({ ...owned, commandId, keepMs });
    },
    dispose: async () => inner.dispose?.(),
  };
}

function notStarted(): WorkspaceError {
  return new WorkspaceError("failed", "A call of an earlier host starts nothing");
}
