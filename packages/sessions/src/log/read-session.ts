import { constants, copyFileSync, fstatSync, openSync } from "node:fs";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, randomHex } from "@tau-agent/system";
import { mendEntry } from "./entries/mend-entry.ts";
import { migrateEntries } from "./entries/migrate.ts";
import { type IndexedFile, indexSessionFile } from "./file/index-session-file.ts";
import { LineReader } from "./file/line-reader.ts";
import { readFailed } from "./file/read-failed.ts";
import type { FileTail } from "./file/read-session-file.ts";
import type { RawEntry } from "./file/record-reader.ts";
import { rewriteSessionFile } from "./file/rewrite-session-file.ts";
import { opening } from "./file/session-file.ts";
import { SessionTree } from "./session-tree.ts";

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
}

/**
 * Reads a session to continue it. A file of an older version is replaced by one of this version.
 *
 * @throws {SessionError} `session_invalid`, `session_unreadable`, `session_write_failed`
 */
export async function readSession(path: string): Promise<ReadSession> {
  const lines = openLines(path);
  try {
    const tree = new SessionTree(Math.ceil(fstatSync(lines.descriptor).size / USUAL_LINE_BYTES));
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
