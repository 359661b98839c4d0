import { constants, copyFileSync, openSync } from "node:fs";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { parseObject, SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, randomHex } from "@tau-agent/system";
import { mendEntry } from "./entries/mend-entry.ts";
import { migrateEntries } from "./entries/migrate.ts";
import { type IndexedFile, indexSessionFile } from "./file/index-session-file.ts";
import { LineReader } from "./file/line-reader.ts";
import { readFailed } from "./file/read-failed.ts";
import type { FileTail } from "./file/read-session-file.ts";
import { type RawEntry, RecordReader } from "./file/record-reader.ts";
import { rewriteSessionFile } from "./file/rewrite-session-file.ts";
import { opening } from "./file/session-file.ts";
import { openPast, SHORTEST_PAST_BYTES } from "./session-past.ts";
import type { SessionTotals } from "./session-totals.ts";
import { SessionTree } from "./session-tree.ts";

const FIRST_BYTES = 64 * 1024;
/** The size of the window in which a compaction is searched for. */
const WINDOW_BYTES = 256 * 1024;
/** A compaction further from the end of the file is not searched for. */
const LAST_BYTES = 4 * 1024 * 1024;
/** The beginning of a compaction's line, as hosts write it. */
const COMPACTION = '\n{"type":"compaction"';
/**
 * The size of a short message. If a file's messages are longer, the extra memory reserved for
 * entries is never touched.
 */
const USUAL_LINE_BYTES = 512;

export interface ReadSession {
  readonly path: string;
  /** Undefined if the file is empty. */
  readonly header: SessionHeader | undefined;
  readonly tree: SessionTree;
  readonly diagnostics: readonly Diagnostic[];
  readonly tail: FileTail;
  /** Reads entries of the tree that were only scanned. */
  readonly lines: LineReader;
  /** Totals of the entries that were not read; undefined if all were read. */
  readonly totals?: SessionTotals | undefined;
}

/**
 * Reads a session to continue it. If a compaction describes the entries before it, only the end is read. A
 * file of an older version is replaced by one of this version.
 *
 * @param shortest - the minimum size in bytes of a past that is not read
 * @throws {SessionError} `session_invalid`, `session_unreadable`, `session_write_failed`
 */
export async function readSession(
  path: string,
  shortest = SHORTEST_PAST_BYTES,
): Promise<ReadSession> {
  const lines = openLines(path);
  try {
    const size = lines.sizeBytes;
    const end = size > shortest ? await readEnd(path, lines, size) : undefined;
    if (end !== undefined) return end;
    const tree = new SessionTree(Math.ceil(size / USUAL_LINE_BYTES));
    tree.readFrom(lines);
    const old: RawEntry[] = [];
    const indexed = await indexSessionFile(path, lines.descriptor, {
      add: (raw, { version = 1 }) => {
        if (version < SESSION_VERSION) old.push(raw);
        else tree.adopt(mendEntry(raw) as unknown as SessionEntry);
      },
      addScanned: (line) => tree.adoptScanned(line),
    });
    return { path, lines, tree, ...upgrade(path, indexed, old, tree) };
  } catch (error) {
    lines.close();
    throw error;
  }
}

/** Returns undefined if the file must be read from its beginning. */
async function readEnd(
  path: string,
  lines: LineReader,
  size: number,
): Promise<ReadSession | undefined> {
  const header = headerOf(path, lines, size);
  if (header === undefined) return undefined;
  for (const compaction of compactionsOf(lines, size)) {
    const opened = openPast(lines, path, compaction);
    if (opened === undefined) continue;
    const { past, totals, bytes: start } = opened;
    const tree = new SessionTree();
    tree.readFrom(lines);
    tree.beginAfter(past);
    const { diagnostics, tail } = await indexSessionFile(
      path,
      lines.descriptor,
      {
        add: (raw) => tree.adopt(mendEntry(raw) as unknown as SessionEntry),
        addScanned: (line) => tree.adoptScanned(line),
      },
      { header, start },
    );
    const isRight =
      tree.length > past.length && tree.idAt(past.length) === compaction.firstKeptEntryId;
    // The line numbers of diagnostics are known only when reading from the beginning.
    if (!isRight || diagnostics.length > 0 || tree.hasDuplicates) return undefined;
    // A line that continues another entry of the past makes the tree read the past.
    const counted = tree.unreadLength > 0 ? totals : undefined;
    return { path, lines, tree, header, diagnostics, tail, totals: counted };
  }
  return undefined;
}

function headerOf(path: string, lines: LineReader, size: number): SessionHeader | undefined {
  const first = lineAt(lines, 0, Math.min(size, FIRST_BYTES));
  if (first === "") return undefined;
  const records = new RecordReader(path, () => {});
  records.take(first);
  return records.header?.version === SESSION_VERSION ? records.header : undefined;
}

/** The compactions at the end of a file, the last one first. */
function* compactionsOf(lines: LineReader, size: number): Generator<Record<string, unknown>> {
  const first = Math.max(0, size - LAST_BYTES);
  const room = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, size));
  for (let end = size, start = size; start > first; end = start + COMPACTION.length - 1) {
    start = Math.max(first, end - WINDOW_BYTES);
    const window = lines.bytes({ start, length: end - start }, room);
    for (let at = window.lastIndexOf(COMPACTION); at !== -1; ) {
      const line = parseObject(lineAt(lines, start + at + 1, size));
      if (line !== undefined) yield line as Record<string, unknown>;
      at = at === 0 ? -1 : window.lastIndexOf(COMPACTION, at - 1);
    }
  }
}

/** A line without its line feed; empty if it has none. */
function lineAt(lines: LineReader, start: number, size: number): string {
  const parts: Buffer[] = [];
  for (const piece of lines.pieces({ start, length: size - start })) {
    const end = piece.indexOf("\n");
    parts.push(Buffer.from(end === -1 ? piece : piece.subarray(0, end)));
    if (end !== -1) return Buffer.concat(parts).toString();
  }
  return "";
}

function openLines(path: string): LineReader {
  try {
    return new LineReader(path, openSync(path, "r"));
  } catch (error) {
    throw readFailed(path, error);
  }
}

function upgrade(
  path: string,
  { header, diagnostics, tail }: IndexedFile,
  old: readonly RawEntry[],
  tree: SessionTree,
): Omit<ReadSession, "path" | "lines" | "tree"> {
  if (header === undefined || (header.version ?? 1) >= SESSION_VERSION) {
    return { header, diagnostics, tail };
  }
  const entries = migrateEntries({ header, entries: old });
  for (const entry of entries) tree.adopt(entry);
  return opening(path, () => migrateFile(path, { header, diagnostics, tail }, entries));
}

/** Malformed lines are dropped; in that case a copy of the original file is kept. */
function migrateFile(
  path: string,
  { header, diagnostics, tail }: IndexedFile & { readonly header: SessionHeader },
  entries: readonly SessionEntry[],
): IndexedFile {
  const noted = [...diagnostics];
  if (diagnostics.length > 0 || !tail.isTailComplete) {
    const aside = `${path}.v${header.version ?? 1}-${randomHex(4)}`;
    copyFileSync(path, aside, constants.COPYFILE_EXCL);
    const message = `The file was upgraded to version ${SESSION_VERSION}; the original is kept as ${aside}.`;
    noted.push({ severity: "warning", message, path });
  }
  const sizeBytes = rewriteSessionFile(path, header, entries);
  const whole = { sizeBytes, unterminatedFrom: undefined, isTailComplete: true };
  return { header, diagnostics: noted, tail: whole };
}
