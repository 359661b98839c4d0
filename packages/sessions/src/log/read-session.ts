import { constants, copyFileSync, fstatSync, openSync } from "node:fs";
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
/** A compaction is looked for here first. */
const NEAR_BYTES = 256 * 1024;
/** One further from the end of a file is not looked for. */
const LAST_BYTES = 4 * 1024 * 1024;
/** As hosts write it. */
const COMPACTION = '\n{"type":"compaction"';
/** Of a short message; of a file of longer ones, the memory set aside for more entries is never touched. */
const USUAL_LINE_BYTES = 512;

export interface ReadSession {
  readonly path: string;
  /** Undefined if the file is empty. */
  readonly header: SessionHeader | undefined;
  readonly tree: SessionTree;
  readonly diagnostics: readonly Diagnostic[];
  readonly tail: FileTail;
  /** Reads the entries of the tree that were only scanned. */
  readonly lines: LineReader;
  /** Of the entries that were not read; undefined if all were. */
  readonly totals?: SessionTotals | undefined;
}

/**
 * Reads a session to continue it, and only its end where a compaction says what comes before. A file of an
 * older version is replaced by one of this version.
 *
 * @param shortest - how many bytes a past must have to be left out
 * @throws {SessionError} `session_invalid`, `session_unreadable`, `session_write_failed`
 */
export async function readSession(
  path: string,
  shortest = SHORTEST_PAST_BYTES,
): Promise<ReadSession> {
  const lines = openLines(path);
  try {
    const { size } = fstatSync(lines.descriptor);
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

/** Undefined if the file has to be read from its beginning. */
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
    // The number of a line is known only from the beginning.
    if (!isRight || diagnostics.length > 0 || tree.hasDuplicates) return undefined;
    // A line that continues another entry of the past has made the tree read it.
    const counted = tree.unreadLength > 0 ? totals : undefined;
    return { path, lines, tree, header, diagnostics, tail, totals: counted };
  }
  return undefined;
}

function headerOf(path: string, lines: LineReader, size: number): SessionHeader | undefined {
  const first = bytesAt(lines, 0, Math.min(size, FIRST_BYTES));
  const end = first.indexOf("\n");
  if (end === -1) return undefined;
  const records = new RecordReader(path, () => {});
  records.take(first.toString("utf8", 0, end));
  return records.header?.version === SESSION_VERSION ? records.header : undefined;
}

/** The compactions at the end of a file, the last one first. */
function compactionsOf(lines: LineReader, size: number): Record<string, unknown>[] {
  const near = compactionsIn(lines, size, NEAR_BYTES);
  return near.length > 0 ? near : compactionsIn(lines, size, LAST_BYTES);
}

function compactionsIn(lines: LineReader, size: number, most: number): Record<string, unknown>[] {
  const start = Math.max(0, size - most);
  const last = bytesAt(lines, start, size - start);
  const found: Record<string, unknown>[] = [];
  for (let at = last.lastIndexOf(COMPACTION); at > 0; at = last.lastIndexOf(COMPACTION, at - 1)) {
    const end = last.indexOf("\n", at + 1);
    const line = end === -1 ? undefined : parseObject(last.toString("utf8", at + 1, end));
    if (line !== undefined) found.push(line as Record<string, unknown>);
  }
  return found;
}

function bytesAt(lines: LineReader, start: number, length: number): Buffer {
  return Buffer.concat(Array.from(lines.pieces({ start, length }), (piece) => Buffer.from(piece)));
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

/** Malformed lines are dropped, so the original file is kept then. */
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
