import type { ExecServerSandboxEnd } from "./frame-schemas.ts";
import { encodeBytes, type FrameId, MAX_PIECE_BYTES, type SendToClient } from "./frames.ts";
import type {
  WorkspaceConnection,
  WorkspaceSandboxes,
  WorkspaceSandboxRequest,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** The maximum amount of unacknowledged data before a connection is held back. */
const windowBytes = 1024 * 1024;

/** The sandboxes opened by clients, and the connections of their commands. */
export class ServerSandboxes {
  readonly #send: SendToClient;
  readonly #connections = new Map<FrameId, HeldConnection>();
  #made = 0;

  constructor(send: SendToClient) {
    this.#send = send;
  }

  /** Opens a sandbox and answers; resolves once the sandbox was cancelled and has closed. */
  async run(
    id: FrameId,
    work: {
      readonly sandboxes: WorkspaceSandboxes;
      readonly request: Omit<WorkspaceSandboxRequest, "onConnection">;
      readonly signal: AbortSignal;
    },
  ): Promise<ExecServerSandboxEnd> {
    const { sandboxes, request, signal } = work;
    const onConnection = (client: WorkspaceConnection) => this.#connect(id, client);
    const { close, ...result } = await sandboxes.open({ ...request, onConnection });
    await this.#send({ id, result });
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
    await close();
    return { id, event: "sandbox_end" };
  }

  /** @throws {WorkspaceError} `not_found` if there is no such connection, or it is closed */
  get(connectionId: FrameId): WorkspaceConnection {
    return this.#held(connectionId).client;
  }

  /** Records how much of a connection's data the client has taken. */
  acknowledge(connectionId: FrameId, bytes: number): void {
    this.#held(connectionId).acknowledge(bytes);
  }

  #held(connectionId: FrameId): HeldConnection {
    const held = this.#connections.get(connectionId);
    if (held !== undefined) return held;
    throw new WorkspaceError("not_found", `No connection ${connectionId} is open`);
  }

  #connect(id: FrameId, client: WorkspaceConnection): WorkspaceConnection {
    const connectionId = ++this.#made;
    const held = new HeldConnection(client);
    this.#connections.set(connectionId, held);
    void this.#send({ id, event: "connect", connectionId });
    return {
      write: async (bytes) => {
        for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
          const data = encodeBytes(bytes.subarray(at, at + MAX_PIECE_BYTES));
          await this.#send({ id, event: "data", connectionId, data });
        }
        await held.sent(bytes.length);
      },
      end: () => void this.#send({ id, event: "end", connectionId }),
      close: () => {
        if (this.#connections.delete(connectionId)) {
          void this.#send({ id, event: "close", connectionId });
        }
      },
    };
  }
}

/** A connection, and the data that the client has not acknowledged yet. */
class HeldConnection {
  readonly client: WorkspaceConnection;
  #waitingBytes = 0;
  #goOn: (() => void) | undefined;

  constructor(client: WorkspaceConnection) {
    this.client = client;
  }

  /** Resolves when more may be sent. */
  async sent(bytes: number): Promise<void> {
    this.#waitingBytes += bytes;
    if (this.#waitingBytes <= windowBytes) return;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
    });
  }

  acknowledge(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes > windowBytes) return;
    this.#goOn?.();
    this.#goOn = undefined;
  }
}
