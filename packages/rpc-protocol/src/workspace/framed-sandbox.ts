import type { JsonObject } from "../vocabulary/json-object.ts";
import { asSandbox } from "./answers.ts";
import type { CommandEvents, FrameCalls } from "./frame-calls.ts";
import { encodeBytes, MAX_PIECE_BYTES } from "./frames.ts";
import type {
  WorkspaceConnection,
  WorkspaceSandbox,
  WorkspaceSandboxRequest,
} from "./workspace.ts";
import { isWorkspaceError } from "./workspace-error.ts";

/** Opens a sandbox behind frames; the host handles the connections of its commands. */
export async function openFramedSandbox(
  calls: FrameCalls,
  { onConnection, ...params }: WorkspaceSandboxRequest,
): Promise<WorkspaceSandbox> {
  const connections = new SandboxConnections(calls, onConnection);
  const { id, answer } = calls.open("open_sandbox", params, undefined, connections);
  const close = async (): Promise<void> => {
    calls.cancel(id);
    await connections.ended;
    calls.forget(id);
  };
  try {
    return { ...asSandbox(await answer), close };
  } catch (error) {
    if (!isWorkspaceError(error, "lost")) calls.cancel(id);
    calls.forget(id);
    throw error;
  }
}

/** The connections of one sandbox, driven by the events of its server. */
class SandboxConnections implements CommandEvents {
  readonly #calls: FrameCalls;
  readonly #onConnection: WorkspaceSandboxRequest["onConnection"];
  readonly #open = new Map<number, OpenConnection>();
  /** Resolves when the sandbox has closed or its server is lost. */
  readonly ended: Promise<void>;
  #end: () => void = () => {};

  constructor(calls: FrameCalls, onConnection: WorkspaceSandboxRequest["onConnection"]) {
    this.#calls = calls;
    this.#onConnection = onConnection;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  take({ event, connectionId, data }: JsonObject): void {
    if (event === "sandbox_end") this.#closeAll();
    if (typeof connectionId !== "number") return;
    if (event === "connect") {
      const client = clientOf(this.#calls, connectionId);
      const far = this.#onConnection(client);
      this.#open.set(connectionId, new OpenConnection(this.#calls, connectionId, far));
      return;
    }
    const connection = this.#open.get(connectionId);
    if (event === "data" && typeof data === "string") {
      connection?.write(Buffer.from(data, "base64"));
    } else if (event === "end") connection?.end();
    else if (event === "close") {
      this.#open.delete(connectionId);
      connection?.close();
    }
  }

  lose(): void {
    this.#closeAll();
  }

  #closeAll(): void {
    for (const connection of this.#open.values()) connection.close();
    this.#open.clear();
    this.#end();
  }
}

/** The data from a command, in order; each piece is acknowledged once it is taken. */
class OpenConnection {
  readonly #calls: FrameCalls;
  readonly #connectionId: number;
  readonly #far: WorkspaceConnection;
  #work: Promise<void> = Promise.resolve();

  constructor(calls: FrameCalls, connectionId: number, far: WorkspaceConnection) {
    this.#calls = calls;
    this.#connectionId = connectionId;
    this.#far = far;
  }

  write(bytes: Uint8Array): void {
    this.#then(async () => {
      await this.#far.write(bytes);
      const params = { connectionId: this.#connectionId, bytes: bytes.length };
      void this.#calls.call("ack_connection", params).catch(() => {});
    });
  }

  end(): void {
    this.#then(() => this.#far.end());
  }

  close(): void {
    this.#far.close();
  }

  #then(work: () => void | Promise<void>): void {
    this.#work = this.#work.then(work).catch(() => this.#far.close());
  }
}

/** The command's end of a connection. */
function clientOf(calls: FrameCalls, connectionId: number): WorkspaceConnection {
  // Errors are ignored: a closed connection or a lost server is reported by an event.
  const call = async (method: string, more: object = {}): Promise<void> => {
    await calls.call(method, { connectionId, ...more }).catch(() => {});
  };
  return {
    write: async (bytes) => {
      const pieces: Promise<void>[] = [];
      for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
        const data = encodeBytes(bytes.subarray(at, at + MAX_PIECE_BYTES));
        pieces.push(call("write_connection", { data }));
      }
      await Promise.all(pieces);
    },
    end: () => void call("end_connection"),
    close: () => void call("close_connection"),
  };
}
