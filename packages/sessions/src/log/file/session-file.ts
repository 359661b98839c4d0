import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, makeFolderNow, randomHex, systemReason } from "@tau-agent/system";
import { readFailed } from "./read-failed.ts";
import type { FileTail } from "./read-session-file.ts";
import { SessionLease } from "./session-lease.ts";

/** The state of a session file on disk (row "`read` turn: system calls": one check per entry). */
export interface FoundFile {
  /** Whether the file was deleted or replaced, so that appended lines would be lost. */
  readonly isGone: boolean;
  readonly sizeBytes: number;
}

/**
 * The only writer of a session file. Each record is handed to the operating system before the call returns. A write
 * that fails half-way is undone, so that the file always ends with a complete line.
 */
export class SessionFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #lease: SessionLease;
  #sizeBytes: number;
  #isOpen = true;
  /** A part of a failed record is still in the file. */
  #isTorn = false;

  private constructor(path: string, descriptor: number, lease: SessionLease, sizeBytes: number) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#lease = lease;
    this.#sizeBytes = sizeBytes;
  }

  /**
   * Creates a file that does not exist yet (or is empty).
   *
   * @throws {SessionError} `session_write_failed`, `session_locked`
   */
  static create(path: string): SessionFile {
    return opening(path, () => {
      makeFolderNow(dirname(path), 0o700);
      const lease = new SessionLease(path);
      return withLease(lease, () => {
        const descriptor = openSync(path, "a", 0o600);
        const { size } = fstatSync(descriptor);
        if (size > 0) {
          closeSync(descriptor);
          throw new SessionError("session_changed", { path });
        }
        return new SessionFile(path, descriptor, lease, 0);
      });
    });
  }

  /**
   * Takes the lease of a file that will be read and continued.
   *
   * @throws {SessionError} `session_write_failed`, `session_locked`
   */
  static lease(path: string): SessionLease {
    return opening(path, () => new SessionLease(path));
  }

  /**
   * Opens a file that was read, after repairing its end: a missing line feed is added, a torn last
   * record is moved to a separate file. Releases `lease` on failure.
   *
   * @throws {SessionError} `session_write_failed`, `session_changed`
   */
  static open(
    path: string,
    tail: FileTail,
    lease: SessionLease,
  ): { file: SessionFile; diagnostics: Diagnostic[] } {
    return opening(path, () => {
      return withLease(lease, () => {
        const descriptor = openSync(path, "a+", 0o600);
        const file = new SessionFile(path, descriptor, lease, tail.sizeBytes);
        try {
          return { file, diagnostics: file.#mendTail(tail) };
        } catch (error) {
          closeSync(descriptor);
          throw error;
        }
      });
    });
  }

  get epoch(): number {
    return this.#lease.epoch;
  }

  /**
   * Appends whole lines, each ending in a line feed.
   *
   * @throws {SessionError} `session_write_failed` (nothing of `lines` is in the file then),
   *   `session_changed` when another program has written to it, `disposed`
   */
  append(lines: string, found?: FoundFile): void {
    this.appendAll([Buffer.from(lines, "utf8")], found);
  }

  /**
   * Appends whole lines in pieces; if one cannot be written, all of them are removed again.
   *
   * @throws {SessionError} as {@link append}, and what `pieces` throws
   */
  appendAll(pieces: Iterable<Uint8Array>, found?: FoundFile): void {
    if (!this.#isOpen) throw new SessionError("disposed");
    const wasTorn = this.#isTorn;
    if (wasTorn) this.#takeBack();
    this.#refuseForeignGrowth(wasTorn ? undefined : found);
    let added = 0;
    try {
      for (const piece of pieces) {
        let written = 0;
        while (written < piece.length) {
          written += writeSync(this.#descriptor, piece, written, piece.length - written);
        }
        added += piece.length;
      }
    } catch (error) {
      this.#takeBack();
      throw error instanceof SessionError ? error : writeFailed(this.path, error);
    }
    this.#sizeBytes += added;
  }

  sync(): void {
    if (this.#isOpen) fsyncSync(this.#descriptor);
  }

  /** The current state of the file; an `append` directly afterwards need not check again. */
  look(): FoundFile {
    const { nlink, ino, dev, size: sizeBytes } = fstatSync(this.#descriptor);
    if (nlink > 0) return { isGone: false, sizeBytes };
    // File systems that do not count links are checked by path.
    const there = statSync(this.path, { throwIfNoEntry: false });
    return { isGone: there?.ino !== ino || there.dev !== dev, sizeBytes };
  }

  /**
   * Checks whether another program has written to the file.
   *
   * @throws {SessionError} `session_changed`
   */
  check(): void {
    const found = this.look();
    if (found.isGone && existsSync(this.path)) {
      throw new SessionError("session_changed", { path: this.path });
    }
    this.#refuseForeignGrowth(found);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#descriptor);
    this.#lease.release();
  }

  #refuseForeignGrowth(found: FoundFile = this.look()): void {
    if (found.sizeBytes !== this.#sizeBytes) {
      throw new SessionError("session_changed", { path: this.path });
    }
  }

  #takeBack(): void {
    try {
      ftruncateSync(this.#descriptor, this.#sizeBytes);
      this.#isTorn = false;
    } catch {
      // If the disk refuses this too, the next append tries again, or the next load moves the record aside.
      this.#isTorn = true;
    }
  }

  #mendTail(tail: FileTail): Diagnostic[] {
    this.#refuseForeignGrowth();
    const from = tail.unterminatedFrom;
    if (from === undefined) return [];
    if (tail.isTailComplete) {
      this.append("\n");
      return [];
    }
    const torn = Buffer.alloc(tail.sizeBytes - from);
    let read = 0;
    while (read < torn.length) {
      read += readSync(this.#descriptor, torn, read, torn.length - read, from + read);
    }
    const aside = `${this.path}.torn-${randomHex(4)}`;
    writeFileSync(aside, torn, { mode: 0o600, flag: "wx" });
    ftruncateSync(this.#descriptor, from);
    this.#sizeBytes = from;
    return [
      {
        severity: "warning",
        message: `The last record was cut off in the middle; it was moved to ${aside}.`,
        path: this.path,
      },
    ];
  }
}

function withLease<T>(lease: SessionLease, open: () => T): T {
  try {
    return open();
  } catch (error) {
    lease.release();
    throw error;
  }
}

/**
 * The size of a session file; 0 if there is none.
 *
 * @throws {SessionError} `session_invalid` for a folder, `session_unreadable`
 */
export function sessionFileSize(path: string): number {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() !== true) return found?.size ?? 0;
  } catch (error) {
    throw readFailed(path, error);
  }
  throw new SessionError("session_invalid", { path, reason: "it is a folder, not a file" });
}

/** Runs a step that touches the file; system errors become a {@link SessionError}. */
export function opening<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof SessionError) throw error;
    throw writeFailed(path, error);
  }
}

function writeFailed(path: string, error: unknown): SessionError {
  const reason = systemReason(error);
  return new SessionError("session_write_failed", { path, reason }, { cause: error });
}
