import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { isWorkspaceError, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { type OutputFile, runScript } from "@tau-agent/system";
import type { Disk } from "../../resources/files/disk.ts";

/** How much to send at once. A typical output is written in one step, at its end. */
const pieceBytes = 4 * 1024 * 1024;
/** The size of all pieces except the last is a multiple of this. */
const blockBytes = 64 * 1024;

/** After ten days an output is no longer needed, and the system does not clean this folder. */
const prepare = `
umask 077
mkdir -p "$1" && chmod 700 "$2" || exit
find "$1" -type f -mtime +10 -exec rm -f {} + 2>/dev/null
:`;

/**
 * Writes at a fixed position, so that an earlier attempt that was considered lost does no harm. Sandboxes may lack
 * `dd`.
 */
const append = `
if command -v dd >/dev/null 2>&1; then
  dd if="$1.part$2" of="$1" bs=${blockBytes} seek="$3" conv=notrunc 2>/dev/null
else cat "$1.part$2" >>"$1"; fi && rm "$1.part$2"`;

/** Files in a workspace for outputs that are too long to show. Only the model's tools and the user can read them. */
export class OutputsThere {
  readonly #workspace: Workspace;
  readonly #folder: string;
  readonly #disk: Pick<Disk, "path">;
  #prepared: Promise<void> | undefined;

  constructor(workspace: Workspace, disk: Pick<Disk, "path" | "homeDirectory">) {
    this.#workspace = workspace;
    this.#disk = disk;
    this.#folder = disk.path.join(disk.homeDirectory, ".cache", "tau", "outputs");
  }

  open(name: string): OutputFile {
    return new OutputThere(this.#disk.path.join(this.#folder, name), {
      workspace: this.#workspace,
      prepare: () => this.#prepare(),
    });
  }

  #prepare(): Promise<void> {
    // Without file modes, there is no way to make files private.
    if (this.#disk.path.sep === "\\") return Promise.resolve();
    this.#prepared ??= runScript(this.#workspace, prepare, [
      this.#folder,
      this.#disk.path.dirname(this.#folder),
    ]).catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }
}

interface OutputPlace {
  readonly workspace: Workspace;
  readonly prepare: () => Promise<void>;
}

class OutputThere implements OutputFile {
  readonly path: string;
  readonly #place: OutputPlace;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writtenBytes = 0;
  #attempts = 0;
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(path: string, place: OutputPlace) {
    this.path = path;
    this.#place = place;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (this.#failure !== undefined) return undefined;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < pieceBytes) return undefined;
    this.#writing ??= this.#writeWaiting(blockBytes);
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#writeWaiting(1);
  }

  /** Writes waiting output, in multiples of a number of bytes. */
  async #writeWaiting(unit: number): Promise<void> {
    try {
      while (this.#waitingBytes >= unit) {
        const all = Buffer.concat(this.#waiting);
        const piece = all.subarray(0, all.length - (all.length % unit));
        this.#waiting = [all.subarray(piece.length)];
        this.#waitingBytes = all.length - piece.length;
        // Retried, so that the file is complete if the command survives the loss of the connection.
        await this.#write(piece).catch((error: unknown) => {
          if (!isWorkspaceError(error, "lost")) throw error;
          return this.#write(piece);
        });
        this.#writtenBytes += piece.length;
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new WorkspaceError("failed", String(error));
      this.#waiting = [];
      this.#waitingBytes = 0;
    } finally {
      this.#writing = undefined;
    }
  }

  async #write(piece: Buffer): Promise<void> {
    const { workspace, prepare: prepareFolder } = this.#place;
    await prepareFolder();
    if (this.#writtenBytes === 0) return workspace.write(this.path, piece, { mode: 0o600 });
    const attempt = String(++this.#attempts);
    await workspace.write(`${this.path}.part${attempt}`, piece, { mode: 0o600 });
    const block = String(this.#writtenBytes / blockBytes);
    await runScript(workspace, append, [this.path, attempt, block]);
  }
}
