import { asBytes, asDescription, asEnded, asEntries, asSearchResult, asStat } from "./answers.ts";
import { FrameCalls, type FrameCallsOptions } from "./frame-calls.ts";
import { FramedProcess } from "./framed-process.ts";
import { openFramedSandbox } from "./framed-sandbox.ts";
import { encodeBytes, MAX_FILE_BYTES, MAX_PIECE_BYTES } from "./frames.ts";
import type {
  Workspace,
  WorkspaceAccess,
  WorkspaceCall,
  WorkspaceChange,
  WorkspaceDescription,
  WorkspaceDurable,
  WorkspaceEntry,
  WorkspaceProcess,
  WorkspaceReadOptions,
  WorkspaceRemoveOptions,
  WorkspaceSandboxes,
  WorkspaceSearchRequest,
  WorkspaceSearchResult,
  WorkspaceSpawnOptions,
  WorkspaceStat,
  WorkspaceStatOptions,
  WorkspaceWriteOptions,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

export interface FramedWorkspaceOptions extends FrameCallsOptions {
  readonly id: string;
  readonly cwd: string;
  /** Whether the server supports `search`. */
  readonly canSearch: boolean;
  /** Whether the server can keep commands. */
  readonly isDurable?: boolean | undefined;
  /** Whether the server can open sandboxes. */
  readonly canEnclose?: boolean | undefined;
  /** Ends the connection. */
  readonly close?: (() => Promise<void>) | undefined;
}

/** How often to retry reading a file that changes meanwhile. */
const maxReads = 3;

/** A workspace behind frames (decision 62), over one connection. */
export class FramedWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly search?: (request: WorkspaceSearchRequest) => Promise<WorkspaceSearchResult>;
  readonly durable?: WorkspaceDurable;
  readonly sandboxes?: WorkspaceSandboxes;
  readonly #calls: FrameCalls;
  readonly #close: (() => Promise<void>) | undefined;
  #description: Promise<WorkspaceDescription> | undefined;
  #uploads = 0;

  constructor(options: FramedWorkspaceOptions) {
    this.id = options.id;
    this.cwd = options.cwd;
    this.#calls = new FrameCalls(options);
    this.#close = options.close;
    if (options.canSearch) {
      this.search = async ({ signal, ...params }) =>
        asSearchResult(await this.#calls.call("search", params, signal));
    }
    if (options.canEnclose) {
      this.sandboxes = { open: (request) => openFramedSandbox(this.#calls, request) };
    }
    if (options.isDurable) {
      const calls = this.#calls;
      this.durable = {
        adopt: (params) => FramedProcess.start(calls, "adopt", params),
        endCommands: async (params) => asEnded(await calls.call("end_commands", params)),
      };
    }
  }

  /**
   * Takes any frame of the server. Never throws.
   *
   * @returns resolves when the next frame can be passed on; undefined if it can be at once
   */
  take(frame: unknown): void | Promise<void> {
    return this.#calls.take(frame);
  }

  /** Records that bytes have arrived, possibly of a large frame that takes long. */
  heard(): void {
    this.#calls.heard();
  }

  /** The connection is closed: everything that is open ends as `lost`, and so does each new call. */
  lose(reason: string): void {
    this.#calls.lose(reason);
  }

  async dispose(): Promise<void> {
    await this.#close?.();
    this.#calls.lose("it was closed");
  }

  /** Requested once, because the description of a workspace does not change. */
  async describe({ signal }: WorkspaceCall = {}): Promise<WorkspaceDescription> {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    this.#description ??= this.#calls.call("describe", {}).then(asDescription);
    const asked = this.#description;
    asked.catch(() => {
      if (this.#description === asked) this.#description = undefined;
    });
    return asked;
  }

  async stat(path: string, options: WorkspaceStatOptions = {}): Promise<WorkspaceStat | undefined> {
    const { signal, ...params } = options;
    return asStat(await this.#calls.call("stat", { path, ...params }, signal));
  }

  async list(path: string, options: WorkspaceAccess = {}): Promise<readonly WorkspaceEntry[]> {
    const { signal, ...params } = options;
    return asEntries(await this.#calls.call("list", { path, ...params }, signal));
  }

  async read(path: string, options: WorkspaceReadOptions = {}): Promise<Uint8Array> {
    const { offset = 0, length } = options;
    if (length !== undefined && length <= MAX_PIECE_BYTES) {
      return this.#readPiece(path, { ...options, offset, length });
    }
    for (let reads = 1; ; reads += 1) {
      const bytes = await this.#readPieces(path, { ...options, offset });
      if (bytes !== undefined) return bytes;
      if (reads < maxReads) continue;
      throw new WorkspaceError("failed", "The file changes while it is read", { path });
    }
  }

  async write(path: string, bytes: Uint8Array, options: WorkspaceWriteOptions = {}): Promise<void> {
    if (bytes.length > MAX_FILE_BYTES) throw new WorkspaceError("too_large", undefined, { path });
    const { signal, ...params } = options;
    if (bytes.length <= MAX_PIECE_BYTES) {
      await this.#calls.call("write", { path, data: encodeBytes(bytes), ...params }, signal);
      return;
    }
    const upload = `upload-${++this.#uploads}`;
    let newestId: number | undefined;
    try {
      for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
        const end = at + MAX_PIECE_BYTES;
        const data = encodeBytes(bytes.subarray(at, end));
        const last = end >= bytes.length;
        const part = { path, data, ...params, upload, ...(last ? { last } : {}) };
        const { id, answer } = this.#calls.open("write", part, signal);
        if (!signal?.aborted) newestId = id;
        await answer;
      }
    } catch (error) {
      // Tells the server to discard the parts that have arrived.
      if (newestId !== undefined) this.#calls.cancel(newestId);
      throw error;
    }
  }

  async remove(path: string, options: WorkspaceRemoveOptions = {}): Promise<void> {
    const { signal, ...params } = options;
    await this.#calls.call("remove", { path, ...params }, signal);
  }

  async rename(from: string, to: string, options: WorkspaceChange = {}): Promise<void> {
    const { signal, ...params } = options;
    await this.#calls.call("rename", { from, to, ...params }, signal);
  }

  async createDirectory(path: string, options: WorkspaceChange = {}): Promise<void> {
    const { signal, ...params } = options;
    await this.#calls.call("createDirectory", { path, ...params }, signal);
  }

  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    // The server's own working directory may be a different one.
    const cwd = options.cwd ?? this.cwd;
    return FramedProcess.start(this.#calls, "spawn", { ...options, cwd });
  }

  async #readPiece(path: string, options: WorkspaceReadOptions): Promise<Uint8Array> {
    const { signal, ...params } = options;
    return asBytes(await this.#calls.call("read", { path, ...params }, signal));
  }

  /** Reads a file that may be larger than one answer; undefined if it changed meanwhile. */
  async #readPieces(
    path: string,
    { offset = 0, length = Number.POSITIVE_INFINITY, ...access }: WorkspaceReadOptions,
  ): Promise<Uint8Array | undefined> {
    // Sent together, because only the answer shows whether the file is small.
    const asked = this.stat(path, access).catch(() => undefined);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const most = Math.min(MAX_PIECE_BYTES, length - bytes);
      const options = { ...access, offset: offset + bytes, length: most };
      const piece = most === 0 ? new Uint8Array() : await this.#readPiece(path, options);
      pieces.push(piece);
      bytes += piece.length;
      if (piece.length < MAX_PIECE_BYTES) break;
      const size = (await asked)?.size ?? 0;
      const whole = Math.min(length, Math.max(bytes, size - offset));
      if (whole > MAX_FILE_BYTES) throw new WorkspaceError("too_large", undefined, { path });
    }
    if (pieces.length === 1) return pieces[0];
    const [before, after] = await Promise.all([asked, this.stat(path, access)]);
    const isSame = before?.size === after?.size && before?.modifiedAt === after?.modifiedAt;
    return before === undefined || isSame ? Buffer.concat(pieces) : undefined;
  }
}
