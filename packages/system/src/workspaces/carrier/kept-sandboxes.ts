import {
  type Workspace,
  WorkspaceError,
  type WorkspaceSandbox,
  type WorkspaceSandboxRequest,
} from "@tau-agent/rpc-protocol/workspace";

interface Kept {
  readonly request: WorkspaceSandboxRequest;
  /** The sandbox over the newest connection. */
  sandbox: WorkspaceSandbox;
}

/** The sandboxes of a workspace, which are reopened over each new connection before a call uses it. */
export class KeptSandboxes {
  readonly #open = new Map<string, Kept>();

  /** @throws {WorkspaceError} `unsupported`: the workspace has no sandboxes */
  async open(workspace: Workspace, request: WorkspaceSandboxRequest): Promise<WorkspaceSandbox> {
    const sandbox = await openIn(workspace, request);
    const kept: Kept = { request, sandbox };
    this.#open.set(request.sandboxId, kept);
    return {
      ...sandbox,
      close: async () => {
        this.#open.delete(request.sandboxId);
        await kept.sandbox.close();
      },
    };
  }

  /** Reopens all of them in the workspace behind a new connection. */
  async openAgain(workspace: Workspace): Promise<void> {
    await Promise.all(
      [...this.#open.values()].map(async (kept) => {
        kept.sandbox = await openIn(workspace, kept.request);
      }),
    );
  }
}

async function openIn(
  { sandboxes }: Workspace,
  request: WorkspaceSandboxRequest,
): Promise<WorkspaceSandbox> {
  if (sandboxes === undefined) throw new WorkspaceError("unsupported");
  return sandboxes.open(request);
}
