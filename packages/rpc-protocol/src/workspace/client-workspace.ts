import type {
  WorkspaceCallFrame,
  WorkspaceCancelFrame,
  WorkspaceOutputFrame,
  WorkspaceResultFrame,
} from "../vocabulary/client-workspace.ts";
import { FramedWorkspace } from "./framed-workspace.ts";
import type { FrameId } from "./frames.ts";
import type { Workspace } from "./workspace.ts";
import { WorkspaceServer } from "./workspace-server.ts";

/** The frames that the host sends to a client that serves a workspace. */
export type ToWorkspaceClient = WorkspaceCallFrame | WorkspaceCancelFrame;
/** The frames that such a client sends. */
export type FromWorkspaceClient = WorkspaceResultFrame | WorkspaceOutputFrame;

export interface ClientWorkspaceOptions {
  readonly id: string;
  readonly cwd: string;
  /** The prefix of its call ids; unique among the workspaces of the connection. */
  readonly idPrefix: string;
  readonly send: (frame: ToWorkspaceClient) => void | Promise<void>;
  readonly onLost?: ((reason: string) => void) | undefined;
}

/** The host's side of a workspace that a client serves, over one connection of that client (decision 61). */
export class ClientWorkspace extends FramedWorkspace {
  readonly #idPrefix: string;

  constructor({ id, cwd, idPrefix, send, onLost }: ClientWorkspaceOptions) {
    let cancels = 0;
    super({
      id,
      cwd,
      // Whether the client supports searching becomes known with the first search.
      canSearch: true,
      onLost,
      send: (frame) => {
        if ("cancel" in frame) {
          cancels += 1;
          const targetId = `${idPrefix}${frame.cancel}`;
          return send({ type: "workspace_cancel", id: `${idPrefix}cancel${cancels}`, targetId });
        }
        const { id: own, method, params = {} } = frame;
        const callId = `${idPrefix}${own}`;
        return send({ type: "workspace_call", id: callId, workspaceId: id, method, params });
      },
    });
    this.#idPrefix = idPrefix;
  }

  /** Whether a frame of the client answers a call of this workspace. */
  isMeant({ id }: { readonly id?: unknown }): boolean {
    return typeof id === "string" && id.startsWith(this.#idPrefix);
  }

  /** Takes a frame of the client; see {@link FramedWorkspace.take}. */
  takeAnswer({ type: _, id, ...frame }: FromWorkspaceClient): void | Promise<void> {
    return this.take({ ...frame, id: Number(id.slice(this.#idPrefix.length)) });
  }
}

/** The client's side: serves its workspace to the host. */
export class ClientWorkspaceServer {
  readonly #workspace: Workspace;
  readonly #send: (frame: FromWorkspaceClient) => void | Promise<void>;
  #server: WorkspaceServer;

  constructor(workspace: Workspace, send: (frame: FromWorkspaceClient) => void | Promise<void>) {
    this.#workspace = workspace;
    this.#send = send;
    this.#server = this.#start();
  }

  take(frame: ToWorkspaceClient): void {
    if (frame.type === "workspace_cancel") this.#server.take({ cancel: frame.targetId });
    else {
      const { id, method, params } = frame;
      this.#server.take({ id, method, params });
    }
  }

  /** The connection is lost: ends everything that runs, and is ready for the next connection. */
  async restart(): Promise<void> {
    const server = this.#server;
    this.#server = this.#start();
    await server.end();
  }

  /** Ends everything that runs. */
  async end(): Promise<void> {
    await this.#server.end();
  }

  #start(): WorkspaceServer {
    return new WorkspaceServer(this.#workspace, (frame) => {
      // For a call with the id of an open one, only the open call is answered.
      if (!("id" in frame)) return;
      const id: FrameId = frame.id;
      const type = "event" in frame ? "workspace_output" : "workspace_result";
      return this.#send({ ...frame, type, id: String(id) } as FromWorkspaceClient);
    });
  }
}
