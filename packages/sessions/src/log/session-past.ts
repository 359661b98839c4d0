import { openSync } from "node:fs";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject, parseObject, SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";
import { mendEntry } from "./entries/mend-entry.ts";
import { indexBytes, indexSessionFile } from "./file/index-session-file.ts";
import { LineReader } from "./file/line-reader.ts";
import { isEntry, type RawEntry } from "./file/record-reader.ts";
import type { LinePlace } from "./scan/index.ts";
import { SessionTotals, type TotalsRecord } from "./session-totals.ts";
import { SessionTree } from "./session-tree.ts";
import type { UnreadPast } from "./unread-past.ts";

/** Reading a shorter past takes no longer than finding the compaction at the end. */
export const SHORTEST_PAST_BYTES = 1024 * 1024;
/** The most entries of a past that are read one by one. */
const MOST_OTHERS = 2_000;

/**
 * A compaction entry's record of the entries before the first one it keeps, so that a host can open the
 * session without reading them. It is valid only for a file with the same bytes before that entry.
 */
export interface PastRecord {
  /** Where the line of the first kept entry begins. */
  readonly bytes: number;
  /** The number of entries before it. */
  readonly entries: number;
  /** The length of the line directly before it, which is the entry `lastId`. */
  readonly lastLength: number;
  readonly lastId: string;
  /** The index of the first kept entry's parent; -1 for a root. */
  readonly parent: number;
  readonly parentId: string | null;
  /** The entries other than usual messages: index, start, length, and 1 if it is on the branch. */
  readonly others: readonly (readonly [number, number, number, number])[];
  readonly totals: TotalsRecord;
}

/** The end of a session, and the known facts about its past. */
export interface OpenedPast {
  readonly past: UnreadPast;
  readonly totals: SessionTotals;
  readonly bytes: number;
}

/**
 * Describes the entries before a given entry of a session file; undefined if that would gain nothing, or
 * if later entries continue more than one of them.
 *
 * @param shortest - the minimum size in bytes of a past that is worth describing
 */
export async function describePast(
  path: string,
  firstKeptId: string,
  shortest = SHORTEST_PAST_BYTES,
): Promise<PastRecord | undefined> {
  const lines = new LineReader(path, openSync(path, "r"));
  try {
    if (lines.sizeBytes < shortest) return undefined;
    return await describe(lines, path, { firstKeptId, shortest });
  } finally {
    lines.close();
  }
}

async function describe(
  lines: LineReader,
  path: string,
  { firstKeptId, shortest }: { readonly firstKeptId: string; readonly shortest: number },
): Promise<PastRecord | undefined> {
  const tree = new SessionTree();
  tree.readFrom(lines);
  const places: LinePlace[] = [];
  const others: number[] = [];
  const { header, diagnostics } = await indexSessionFile(path, lines.descriptor, {
    add: (raw, _header, place) => {
      others.push(tree.length);
      places.push(place);
      tree.adopt(mendEntry(raw) as unknown as SessionEntry);
    },
    addScanned: (line) => {
      places.push({ start: line.start, length: line.length });
      tree.adoptScanned(line);
    },
  });
  const kept = tree.indexOf(firstKeptId) ?? 0;
  const { start: bytes = 0 } = places[kept] ?? {};
  const last = places[kept - 1];
  const inPast = others.filter((position) => position < kept);
  const isWorthIt = last !== undefined && bytes >= shortest && inPast.length <= MOST_OTHERS;
  const isPlain = header?.version === SESSION_VERSION && diagnostics.length === 0;
  if (!isWorthIt || !isPlain || tree.hasDuplicates) return undefined;
  // There is a blank line in between, or a byte that is not UTF-8.
  if (last.start + last.length + 1 !== bytes) return undefined;
  const parent = tree.parentAt(kept);
  for (let position = kept; position < tree.length; position++) {
    const at = tree.parentAt(position);
    if (at < kept && at !== parent && at !== -1) return undefined;
  }
  const parentId = parent === -1 ? null : tree.idAt(parent);
  const branch = new Set(parentId === null ? [] : tree.branchPositions(parentId));
  const totals = new SessionTotals();
  for (let position = 0; position < kept; position++) totals.addAt(tree, position);
  return {
    ...{ bytes, entries: kept, lastLength: last.length, lastId: tree.idAt(kept - 1) },
    ...{ parent, parentId },
    others: inPast.map((position) => {
      const { start, length } = places[position] as LinePlace;
      return [position, start, length, branch.has(position) ? 1 : 0] as const;
    }),
    totals: totals.record,
  };
}

/** Reads a record from a file, if the file still matches it. */
export function openPast(
  lines: LineReader,
  path: string,
  { past: given }: Record<string, unknown>,
): OpenedPast | undefined {
  if (!isPastRecord(given)) return undefined;
  const { bytes, entries, parent, parentId, lastId, lastLength } = given;
  const totals = SessionTotals.restored(given.totals);
  const last = lineAt(lines, { start: bytes - 1 - lastLength, length: lastLength });
  if (totals === undefined || last?.id !== lastId) return undefined;
  const others = given.others.map(([position, start, length, isOnBranch]) => {
    const raw = lineAt(lines, { start, length });
    const isKnown = raw !== undefined && isEntry(raw, { version: SESSION_VERSION });
    if (!isKnown || position >= entries) return undefined;
    const entry = mendEntry(raw) as unknown as SessionEntry;
    return { position, entry, isOnBranch: isOnBranch === 1 };
  });
  const known = others.filter((other) => other !== undefined);
  if (known.length < others.length) return undefined;
  const past: UnreadPast = {
    ...{ length: entries, parent, parentId, others: known },
    read: (tree) => {
      const adopt = {
        add: (raw: RawEntry) => tree.adopt(mendEntry(raw) as unknown as SessionEntry),
        addScanned: tree.adoptScanned.bind(tree),
      };
      indexBytes(path, lines.pieces({ start: 0, length: bytes }), adopt);
    },
  };
  return { past, totals, bytes };
}

/** The object in a line; undefined if there is no such line. */
function lineAt(
  lines: LineReader,
  { start, length }: LinePlace,
): Record<string, unknown> | undefined {
  if (start < 1 || start + length >= lines.sizeBytes) return undefined;
  const text = lines.bytes({ start: start - 1, length: length + 2 }).toString();
  if (!text.startsWith("\n") || !text.endsWith("\n") || text.slice(1, -1).includes("\n"))
    return undefined;
  return parseObject(text.slice(1, -1)) as Record<string, unknown> | undefined;
}

function isPastRecord(value: unknown): value is PastRecord {
  if (!isJsonObject(value)) return false;
  const { bytes, entries, lastLength, lastId, parent, parentId, others } = value;
  const isParent =
    parentId === null ? parent === -1 : typeof parentId === "string" && isCount(parent);
  return (
    [bytes, entries, lastLength].every(isCount) &&
    (typeof parent !== "number" || parent < Number(entries)) &&
    typeof lastId === "string" &&
    isParent &&
    Array.isArray(others) &&
    others.every((other) => Array.isArray(other) && other.length === 4 && other.every(isCount))
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
