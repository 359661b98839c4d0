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
import type { ShellConnection } from "./shell-connection.ts";
import { needAbsolute, operation, orFailure, ShellFiles } from "./shell-files.ts";
import { escapeBytes } from "./shell-text.ts";

interface ShellWorkspaceOptions {
  readonly id: string;
  readonly cwd: string;
  readonly connection: ShellConnection;
}

/** The longest content, as an argument of `printf`, that a request holds. */
const maxInline = 96 * 1024;
const maxBytes = 2 ** 31;

/** A place that is reached by `sh` at the other end of any program. */
export class ShellWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly #connection: ShellConnection;
  readonly #files: ShellFiles;

  constructor({ id, cwd, connection }: ShellWorkspaceOptions) {
    this.id = id;
    this.cwd = cwd;
    this.#connection = connection;
    this.#files = new ShellFiles((script, signal) => connection.run({ script }, signal));
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
    const connection = this.#connection;
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
    return this.#connection.spawn(options, this.cwd);
  }

  async dispose(): Promise<void> {
    await this.#connection.close();
  }
}
