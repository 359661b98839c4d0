import type {
  ClientWorkspace,
  FromWorkspaceClient,
  ToWorkspaceClient,
} from "@tau-agent/rpc-protocol/workspace";
import type { ServingClients } from "@tau-agent/system";

/** A connection to a client that serves workspaces. */
export interface WorkspaceServingClient {
  sendWorkspace(frame: ToWorkspaceClient): void | Promise<void>;
}

interface Asked {
  readonly id: string;
  readonly cwd: string;
  readonly onLost: (reason: string) => void;
}

/** The workspace of one session, which at most one client serves at a time. */
export class ClientPlace implements ServingClients {
  #client: WorkspaceServingClient | undefined;
  #workspace: ClientWorkspace | undefined;
  #next = Promise.withResolvers<void>();
  #isEnded = false;

  /** Whether the session does not use this workspace, or no longer does. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** A client offers to serve the workspace; the first offer is accepted. */
  serve(client: WorkspaceServingClient): void {
    if (this.#client !== undefined || this.#isEnded) return;
    this.#client = client;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** The client's connection is closed. */
  leave(client: WorkspaceServingClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#lose("its client has gone");
  }

  /** Resolves when the next client starts serving the workspace. */
  served(): Promise<void> {
    return this.#next.promise;
  }

  /**
   * Takes a message from a client.
   *
   * @returns resolves when the next message can be passed on; undefined if it can be at once
   */
  take(client: WorkspaceServingClient, answer: FromWorkspaceClient): Promise<void> | undefined {
    if (client !== this.#client || this.#workspace?.isMeant(answer) !== true) return undefined;
    return this.#workspace.takeAnswer(answer) ?? undefined;
  }

  /** Connects to the client that serves the workspace; undefined if no client does. */
  async connect({ id, cwd, onLost }: Asked): Promise<ClientWorkspace | undefined> {
    const { ClientWorkspace } = await import("@tau-agent/rpc-protocol/workspace");
    const client = this.#client;
    if (client === undefined) return undefined;
    this.#lose("it is connected again");
    const workspace = new ClientWorkspace({
      ...{ id, cwd, onLost },
      idPrefix: `${crypto.randomUUID().slice(0, 8)}:`,
      send: (frame) => client.sendWorkspace(frame),
    });
    this.#workspace = workspace;
    return workspace;
  }

  /** The session has ended. */
  end(): void {
    this.#isEnded = true;
    this.#client = undefined;
    this.#lose("the session has ended");
  }

  #lose(reason: string): void {
    const workspace = this.#workspace;
    this.#workspace = undefined;
    workspace?.lose(reason);
  }
}
