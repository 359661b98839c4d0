import type { ExecServerSandboxEnd } from "./frame-schemas.ts";
import { encodeBytes, type FrameId, MAX_PIECE_BYTES, type SendToClient } from "./frames.ts";
import type {
  WorkspaceConnection,
  WorkspaceSandboxes,
  WorkspaceSandboxRequest,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** What of a connection is not acknowledged before it is held back. */
const windowBytes = 1024 * 1024;

/** The sandboxes that clients have opened, and the connections of their commands. */
export class ServerSandboxes {
  readonly #send: SendToClient;
  readonly #connections = new Map<FrameId, HeldConnection>();
  #made = 0;

  constructor(send: SendToClient) {
    this.#send = send;
  }

  /** Opens a sandbox and answers; resolves once it was cancelled and has ended. */
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

  /** @throws {WorkspaceError} `not_found`: there is none, or it is gone */
  get(connectionId: FrameId): WorkspaceConnection {
    return this.#held(connectionId).client;
  }

  /** Notes that the client has taken so much of a connection. */
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

/** A connection and what of it the client has not taken yet. */
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
