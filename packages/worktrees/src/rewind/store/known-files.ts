import { readFileSync } from "node:fs";
import { writeFileAtomic } from "@tau-agent/system";
import type { WalkedFile } from "../../files/walk.ts";
import { type FileStamp, type FoundFile, hasSameStamp } from "../files/file-state.ts";

interface KnownFile {
  readonly stamp: FileStamp;
  readonly id: string;
}

/** The size, times, inode number and content id of a file. */
type Row = readonly [size: number, mtimeMs: number, ctimeMs: number, ino: number, id: string];

/**
 * A file that is written again this soon after it was read could look unchanged: file systems'
 * clocks tick in steps of some milliseconds, old ones in steps of two seconds.
 */
const tickMs = 100;
const coarseTickMs = 2_100;

/** Content ids of files, valid as long as size, times and inode show no change. */
export class KnownFiles {
  #files = new Map<string, KnownFile>();
  #fresh = new Map<string, KnownFile>();
  #hasChanged = false;

  /** The id of a file's content if it was read before and has not changed since. */
  idOf({ path, kind, stats }: WalkedFile): string | undefined {
    if (kind === "folder") return "";
    const found = this.#files.get(path);
    if (found === undefined || !hasSameStamp(found.stamp, stats)) return undefined;
    this.#fresh.set(path, found);
    return found.id;
  }

  note({ path, stats }: WalkedFile, id: string): void {
    const { size, mtimeMs, ctimeMs, ino } = stats;
    this.#hasChanged = true;
    const isCoarse = mtimeMs % 1000 === 0 || ctimeMs % 1000 === 0;
    const age = Date.now() - Math.max(mtimeMs, ctimeMs);
    if (age < (isCoarse ? coarseTickMs : tickMs)) return;
    this.#fresh.set(path, { stamp: { size, mtimeMs, ctimeMs, ino }, id });
  }

  /** Forgets all files except those of a snapshot. */
  keepOnly(files: ReadonlyMap<string, FoundFile>): void {
    this.#hasChanged ||= this.#fresh.size !== this.#files.size || files.size < this.#files.size;
    this.#files = this.#fresh;
    this.#fresh = new Map();
  }

  *ids(): Generator<string> {
    for (const { id } of this.#files.values()) yield id;
  }

  /** Reads saved data; returns the commit that keeps the contents, undefined if there is none. */
  load(path: string): string | undefined {
    try {
      const { commit, files } = JSON.parse(readFileSync(path, "utf8")) as {
        commit: string;
        files: Record<string, Row>;
      };
      for (const [name, [size, mtimeMs, ctimeMs, ino, id]] of Object.entries(files)) {
        this.#files.set(name, { stamp: { size, mtimeMs, ctimeMs, ino }, id });
      }
      return commit;
    } catch {
      // The file is missing or of another version: all files are read again.
      this.#files.clear();
      return undefined;
    }
  }

  clear(): void {
    this.#files.clear();
  }

  /** Saves the known facts for the next host, if anything has changed. */
  async save(path: string, commit: string): Promise<void> {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const files: Record<string, Row> = Object.create(null);
    for (const [name, { stamp, id }] of this.#files) {
      files[name] = [stamp.size, stamp.mtimeMs, stamp.ctimeMs, stamp.ino, id];
    }
    await writeFileAtomic(path, JSON.stringify({ commit, files }));
  }
}
