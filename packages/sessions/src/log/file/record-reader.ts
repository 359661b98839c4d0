import type { SessionHeader } from "@tau-agent/rpc-protocol";
import {
  isJsonObject,
  parseObject,
  SESSION_VERSION,
  SessionError,
} from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";

/** Images make long lines, but a line longer than this is not a session entry. */
export const MAX_LINE_BYTES = 512 * 1024 * 1024;

export type RawEntry = Record<string, unknown>;

/**
 * Reads the lines of a session file in order: first the header, then entries. Malformed lines are
 * reported with their line number.
 */
export class RecordReader {
  readonly diagnostics: Diagnostic[] = [];
  /** Undefined before the first line that is not blank. */
  header: SessionHeader | undefined;
  readonly #path: string;
  readonly #onEntry: (entry: RawEntry, header: SessionHeader) => void;
  #line = 0;

  constructor(path: string, onEntry: (entry: RawEntry, header: SessionHeader) => void) {
    this.#path = path;
    this.#onEntry = onEntry;
  }

  /**
   * Reads a line; `text` is undefined if the line is too long.
   *
   * @returns whether the line is blank or a record
   * @throws {SessionError} `session_invalid`, `session_damaged`
   */
  take(text: string | undefined): boolean {
    this.#line += 1;
    if (text?.trim() === "") return true;
    const value = text === undefined ? undefined : (parseObject(text) as RawEntry | undefined);
    if (this.header === undefined) {
      if (value === undefined || !isHeader(value)) this.#refuseStart(text);
      this.header = value as SessionHeader;
      this.#refuseNewer(this.header.version ?? 1);
      return true;
    }
    if (value === undefined || !isEntry(value, this.header)) {
      this.diagnostics.push({
        severity: "warning",
        message: "This line is not a session entry; it is ignored and stays in the file.",
        path: this.#path,
        line: this.#line,
      });
      return false;
    }
    this.#onEntry(value, this.header);
    return true;
  }

  /** Reads a last line without a line feed, like {@link take}. */
  takeLast(text: string | undefined): boolean {
    const reported = this.diagnostics.length;
    const isWhole = this.take(text);
    // A torn record is removed from the file; the code that moves it aside reports it.
    this.diagnostics.length = Math.min(this.diagnostics.length, reported);
    return isWhole;
  }

  /** Counts an entry that was read elsewhere. */
  noteEntry(): void {
    this.#line += 1;
  }

  /**
   * Checks that a non-empty file had a header.
   *
   * @throws {SessionError} `session_invalid`
   */
  finish(sizeBytes: number): void {
    if (this.header === undefined && sizeBytes > 0) this.#refuse("it has no session header");
  }

  /** A later version may give entries a different meaning, so the file must not be continued. */
  #refuseNewer(version: number): void {
    if (version > SESSION_VERSION) {
      this.#refuse(
        `it has version ${version}; this host supports versions up to ${SESSION_VERSION}`,
      );
    }
  }

  /** A first line that begins like a header is a damaged one; any other file never was a session. */
  #refuseStart(text: string | undefined): never {
    const reason = "its first line is not a session header";
    if (!/^\s*\{\s*"type"\s*:\s*"session"/.test(text ?? "")) this.#refuse(reason);
    throw new SessionError("session_damaged", { path: this.#path, reason });
  }

  #refuse(reason: string): never {
    throw new SessionError("session_invalid", { path: this.#path, reason });
  }
}

function isHeader(value: RawEntry): boolean {
  return value.type === "session" && typeof value.id === "string";
}

/** Version 1 entries have no ids yet. */
export function isEntry(value: RawEntry, header: Pick<SessionHeader, "version">): boolean {
  if (typeof value.type !== "string") return false;
  if ((header.version ?? 1) < 2) return true;
  const { id, parentId } = value;
  if (typeof id !== "string" || (parentId !== null && typeof parentId !== "string")) return false;
  return value.type !== "message" || isMessage(value.message);
}

function isMessage(value: unknown): boolean {
  return isJsonObject(value) && typeof value.role === "string";
}
