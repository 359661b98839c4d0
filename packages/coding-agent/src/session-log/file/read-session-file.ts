import { type FileHandle, open } from "node:fs/promises";
import type { DecodedLine, SessionHeader } from "@tau-agent/rpc-protocol";
import { errorMessage, LineDecoder, SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { SessionError } from "../../base/errors.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Images make long lines; a longer line than this is not a session entry. */
const MAX_LINE_BYTES = 512 * 1024 * 1024;

/** How a file ends: what must be repaired before the first append. */
export interface FileTail {
  /** Size of the file when it was read. */
  readonly sizeBytes: number;
  /** Where an unterminated last line begins; undefined if the file ends in a line feed. */
  readonly unterminatedFrom: number | undefined;
  /** Whether that last line is a whole record that only lacks its line feed. */
  readonly isTailComplete: boolean;
}

/** The content of a session file, before migration. */
export interface SessionFileContent {
  /** Undefined if the file is empty. */
  readonly header: SessionHeader | undefined;
  readonly entries: Record<string, unknown>[];
  readonly diagnostics: Diagnostic[];
  readonly tail: FileTail;
}

/**
 * Reads a session file line by line. Malformed lines are skipped and reported with their number;
 * they stay in the file.
 *
 * @throws {SessionError} `session_invalid` if the file cannot be read, or is not empty and does not
 *   begin with a header.
 */
export async function readSessionFile(path: string): Promise<SessionFileContent> {
  const reader = new SessionReader(path);
  try {
    const file = await open(path, "r");
    try {
      await readChunks(file, (chunk) => reader.push(chunk));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof SessionError) throw error;
    const reason = errorMessage(error);
    throw new SessionError("session_invalid", { path, reason }, { cause: error });
  }
  return reader.finish();
}

async function readChunks(file: FileHandle, push: (chunk: Buffer) => void): Promise<void> {
  for (;;) {
    // A fresh buffer each time: the decoder keeps views into it while a line is incomplete.
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES) });
    if (bytesRead === 0) return;
    push(buffer.subarray(0, bytesRead));
  }
}

class SessionReader {
  readonly #path: string;
  readonly #decoder = new LineDecoder(MAX_LINE_BYTES, { keepBlankLines: true });
  readonly #entries: Record<string, unknown>[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  #header: SessionHeader | undefined;
  #line = 0;
  #sizeBytes = 0;
  #lineStart = 0;
  #lastByte: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  push(chunk: Buffer): void {
    const lastFeed = chunk.lastIndexOf(0x0a);
    if (lastFeed !== -1) this.#lineStart = this.#sizeBytes + lastFeed + 1;
    this.#sizeBytes += chunk.length;
    this.#lastByte = chunk.at(-1);
    for (const line of this.#decoder.push(chunk)) this.#take(line);
  }

  finish(): SessionFileContent {
    const isUnterminated = this.#lastByte !== undefined && this.#lastByte !== 0x0a;
    let isTailComplete = true;
    const reported = this.#diagnostics.length;
    for (const line of this.#decoder.end()) isTailComplete = this.#take(line);
    // A torn record does not stay in the file; the code that sets it aside reports it.
    this.#diagnostics.length = Math.min(this.#diagnostics.length, reported);
    if (this.#header === undefined && this.#sizeBytes > 0) this.#refuse("it has no session header");
    return {
      header: this.#header,
      entries: this.#entries,
      diagnostics: this.#diagnostics,
      tail: {
        sizeBytes: this.#sizeBytes,
        unterminatedFrom: isUnterminated ? this.#lineStart : undefined,
        isTailComplete,
      },
    };
  }

  #take(line: DecodedLine): boolean {
    this.#line += 1;
    if ("text" in line && line.text.trim() === "") return true;
    const value = "text" in line ? parseRecord(line.text) : undefined;
    if (this.#header === undefined) {
      if (value === undefined || !isHeader(value))
        this.#refuse("its first line is not a session header");
      this.#header = value as SessionHeader;
      this.#refuseNewer(this.#header.version ?? 1);
      return true;
    }
    if (value === undefined || !isEntry(value, this.#header)) {
      this.#diagnostics.push({
        severity: "warning",
        message: "This line is not a session entry; it is ignored and stays in the file.",
        path: this.#path,
        line: this.#line,
      });
      return false;
    }
    this.#entries.push(value);
    return true;
  }

  /** A later version may give its entries another meaning, so nothing is added to them. */
  #refuseNewer(version: number): void {
    if (version > SESSION_VERSION) {
      this.#refuse(
        `it has version ${version}; this host supports versions up to ${SESSION_VERSION}`,
      );
    }
  }

  #refuse(reason: string): never {
    throw new SessionError("session_invalid", { path: this.#path, reason });
  }
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isHeader(value: Record<string, unknown>): boolean {
  return value.type === "session" && typeof value.id === "string";
}

/** Version 1 entries have no ids yet. */
function isEntry(value: Record<string, unknown>, header: SessionHeader): boolean {
  if (typeof value.type !== "string") return false;
  if ((header.version ?? 1) < 2) return true;
  const { id, parentId } = value;
  if (typeof id !== "string" || (parentId !== null && typeof parentId !== "string")) return false;
  return value.type !== "message" || isMessage(value.message);
}

function isMessage(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && "role" in value && typeof value.role === "string"
  );
}
