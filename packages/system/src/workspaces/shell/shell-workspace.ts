import {
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceCall,
  type WorkspaceDescription,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceProcess,
  type WorkspaceReadOptions,
  type WorkspaceRemoveOptions,
  type WorkspaceSpawnOptions,
  type WorkspaceStat,
  type WorkspaceStatOptions,
  type WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { randomHex } from "../../base/random.ts";
import type { StartCarrier } from "./open-shell.ts";
import { Reconnecting, type WorkspaceStatusSink } from "./reconnecting.ts";
import { ShellConnection } from "./shell-connection.ts";
import { needAbsolute, operation, orFailure, ShellFiles } from "./shell-files.ts";
import { escapeBytes } from "./shell-text.ts";

interface ShellWorkspaceOptions {
  readonly id: string;
  readonly cwd: string;
  readonly start: StartCarrier;
  readonly reconnectMs: number;
  readonly onStatus: WorkspaceStatusSink;
}

/** The longest content, as an argument of `printf`, that a request holds. */
const maxInline = 96 * 1024;
const maxBytes = 2 ** 31;

/** A place that is reached by `sh` at the other end of any program. */
export class ShellWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly #connections: Reconnecting<ShellConnection>;
  readonly #files: ShellFiles;
  #connection: ShellConnection;

  /** @throws {WorkspaceError} `lost`: the place cannot be reached */
  static async connect(options: ShellWorkspaceOptions): Promise<ShellWorkspace> {
    return new ShellWorkspace(options, await ShellConnection.open(options.start, []));
  }

  private constructor(options: ShellWorkspaceOptions, first: ShellConnection) {
    this.id = options.id;
    this.cwd = options.cwd;
    this.#connection = first;
    const connect = async () => {
      const connection = await ShellConnection.open(options.start, this.#connection.orphans);
      this.#use(connection);
      return connection;
    };
    this.#connections = new Reconnecting(first, connect, options);
    this.#use(first);
    this.#files = new ShellFiles(async (script, signal) =>
      (await this.#connected(signal)).run({ script }, signal),
    );
  }

  async describe({ signal }: WorkspaceCall = {}): Promise<WorkspaceDescription> {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    return this.#connection.place.description;
  }

  stat(path: string, options?: WorkspaceStatOptions): Promise<WorkspaceStat | undefined> {
    return this.#files.stat(path, options);
  }

  list(path: string, options?: WorkspaceAccess): Promise<readonly WorkspaceEntry[]> {
    return this.#files.list(path, options);
  }

  read(path: string, options?: WorkspaceReadOptions): Promise<Uint8Array> {
    return this.#files.read(path, options);
  }

  async write(path: string, bytes: Uint8Array, options: WorkspaceWriteOptions = {}): Promise<void> {
    if (bytes.length > maxBytes) throw new WorkspaceError("too_large", undefined, { path });
    const mode = (options.mode ?? 0o666).toString(8);
    const words = [path, mode, String(bytes.length), `.tau-${randomHex(8)}.tmp`];
    const text = bytes.length > maxInline ? undefined : escapeBytes(bytes);
    const isInline = text !== undefined && text.length <= maxInline;
    const content = isInline ? `printf %b '${text}'` : "cat";
    const script = operation("t_write", words, options, `t_content() { ${content}; }\n`);
    const { signal } = options;
    const connection = await this.#connected(signal);
    const answer = isInline
      ? await connection.run({ script }, signal)
      : await connection.runWithInput({ script, input: bytes }, signal);
    orFailure(answer, path);
  }

  remove(path: string, options?: WorkspaceRemoveOptions): Promise<void> {
    return this.#files.remove(path, options);
  }

  rename(from: string, to: string, options?: WorkspaceAccess): Promise<void> {
    return this.#files.rename(from, to, options);
  }

  createDirectory(path: string, options?: WorkspaceAccess): Promise<void> {
    return this.#files.createDirectory(path, options);
  }

  async spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    if (options.cwd !== undefined) needAbsolute(options.cwd);
    if (options.command.length === 0) throw new WorkspaceError("failed", "The command is empty");
    return (await this.#connected(options.signal)).spawn(options, this.cwd);
  }

  async dispose(): Promise<void> {
    this.#connections.close();
    await this.#connection.close();
  }

  /** The connection, when there is one again. */
  async #connected(signal: AbortSignal | undefined): Promise<ShellConnection> {
    if (signal === undefined) return this.#connections.get();
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(new WorkspaceError("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      return await Promise.race([promise, this.#connections.get()]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #use(connection: ShellConnection): void {
    this.#connection = connection;
    void connection.lost.then((error) => {
      if (this.#connection === connection) this.#connections.lost(error.message);
    });
  }
}
