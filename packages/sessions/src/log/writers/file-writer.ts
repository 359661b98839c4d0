import { existsSync, openSync, realpathSync } from "node:fs";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { encodeLine, SessionError } from "@tau-agent/rpc-protocol/plain";
import { LineReader } from "../file/line-reader.ts";
import { opening, SessionFile } from "../file/session-file.ts";
import type { LogWriter, Ownership } from "./log-writer.ts";

/** When to flush the file to disk, to survive power cuts. */
export type FsyncMode = "none" | "turn" | "entry";

/** Writes a session into its file. A file that is deleted while in use is written again as a whole. */
export class FileWriter implements LogWriter {
  readonly path: string;
  readonly #fsync: FsyncMode;
  #file: SessionFile | undefined;
  #isGone = false;

  /** @param file - the open file of a session that goes on */
  constructor(path: string, fsync: FsyncMode = "none", file?: SessionFile) {
    this.path = path;
    this.#fsync = fsync;
    this.#file = file;
  }

  get reference(): string {
    return this.path;
  }

  get ownership(): Ownership | undefined {
    return this.#file && { key: realpathSync(this.path), epoch: this.#file.epoch };
  }

  get isBegun(): boolean {
    return this.#file !== undefined || this.#isGone;
  }

  begin(lines: readonly (SessionHeader | SessionEntry)[]): void {
    this.#create((file) => file.append(lines.map(encodeLine).join("")));
  }

  beginWithPieces(pieces: Iterable<Uint8Array>): LineReader {
    const { path } = this;
    return this.#create((file) => {
      file.appendAll(pieces);
      return opening(path, () => new LineReader(path, openSync(path, "r")));
    });
  }

  append(entries: readonly SessionEntry[]): boolean {
    const found = this.#file?.look();
    if (found?.isGone !== false) {
      this.#leaveFile();
      return false;
    }
    this.#file?.append(entries.map(encodeLine).join(""), found);
    this.#syncEntry();
    return true;
  }

  endTurn(): void {
    if (this.#fsync === "turn") this.#file?.sync();
  }

  check(): void {
    this.#file?.check();
    if (this.#isGone && existsSync(this.path)) {
      throw new SessionError("session_changed", { path: this.path });
    }
  }

  /** Each entry is with the operating system before the call that wrote it returns. */
  stored(): undefined {
    return undefined;
  }

  /** A failed write was taken back, and the next one tries again. */
  recover(): undefined {
    return undefined;
  }

  close(): void {
    this.#file?.close();
  }

  #create<T>(write: (file: SessionFile) => T): T {
    const file = SessionFile.create(this.path);
    let result: T;
    try {
      result = write(file);
    } catch (error) {
      file.close();
      throw error;
    }
    this.#file = file;
    this.#isGone = false;
    this.#syncEntry();
    return result;
  }

  #leaveFile(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#isGone = true;
  }

  #syncEntry(): void {
    if (this.#fsync === "entry") this.#file?.sync();
  }
}
