import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { mapSome } from "@tau-agent/system";
import { mendEntry } from "./entries/mend-entry.ts";
import { asHeader, infoOf, type SessionInfo } from "./list-sessions.ts";
import { isInWorkspace } from "./session-project.ts";

/** A session in a page, as far as it is known from the two ends of its file. */
type SessionHead = Pick<SessionInfo, "path" | "id" | "cwd" | "name" | "modified"> & {
  /** The beginning of the first prompt; undefined if there is none. */
  readonly firstMessage?: string;
};

export interface SessionPage {
  readonly sessions: SessionHead[];
  /** Where the next page starts; undefined at the end. */
  readonly next?: number;
}

export interface PageRequest {
  readonly cwd?: string | undefined;
  /** Only sessions of this workspace; undefined for the host's own machine. */
  readonly workspaceId?: string | undefined;
  /** 0, or `next` of the previous page. */
  readonly start: number;
  readonly limit: number;
}

/** How much of a file's beginning is read; more only until the first prompt is found. */
const HEAD_BYTES = 64 * 1024;
const MAX_HEAD_BYTES = 16 * 1024 * 1024;
/** How much of a file's end is read. The latest name and time are there, unless much was added since. */
const TAIL_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const CONCURRENCY = 8;

/**
 * A page of the sessions in folders, the latest written first. Only the two ends of the files on that
 * page are read, so neither long sessions nor other pages take time.
 */
export async function listSessionPage(
  folders: readonly string[],
  { start, limit, ...project }: PageRequest,
): Promise<SessionPage> {
  const paths = await latestFirst(folders);
  const sessions: SessionHead[] = [];
  for (let at = start; at < paths.length; at += 1) {
    const head = await readEnds(paths[at] ?? "", project).catch(() => undefined);
    if (head === undefined) continue;
    if (sessions.length === limit) return { sessions, next: at };
    sessions.push(head);
  }
  return { sessions };
}

async function latestFirst(folders: readonly string[]): Promise<string[]> {
  const dated: { readonly path: string; readonly mtimeMs: number }[] = [];
  for (const folder of folders) {
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
    const found = await mapSome(names, CONCURRENCY, async (name) => {
      const path = join(folder, name);
      return { path, mtimeMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    });
    dated.push(...found);
  }
  // File names begin with the time, so they order files that were written at the same time.
  const byName = (a: string, b: string): number => (a < b ? 1 : -1);
  dated.sort((a, b) => b.mtimeMs - a.mtimeMs || byName(a.path, b.path));
  return dated.map(({ path }) => path);
}

/** The project whose sessions are wanted. */
type Wanted = Pick<PageRequest, "cwd" | "workspaceId">;

async function readEnds(path: string, wanted: Wanted): Promise<SessionHead | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const beginning = await readBeginning(file, size, wanted);
    if (beginning === undefined) return undefined;
    const { header, entries, end } = beginning;
    const latest = await recordsIn(file, {
      from: Math.max(end, size - TAIL_BYTES),
      to: size,
      size,
    });
    const info = infoOf(path, header, [...entries, ...asEntries(latest.records)]);
    const { id, name, modified, firstMessage } = info;
    const prompt = entries.some(isPrompt) ? { firstMessage } : {};
    return { path, id, cwd: info.cwd, ...(name ? { name } : {}), ...prompt, modified };
  } finally {
    await file.close();
  }
}

/**
 * The header and the first entries, up to the first prompt if there is one; undefined for files that are not sessions.
 */
async function readBeginning(file: FileHandle, size: number, { cwd, workspaceId }: Wanted) {
  for (let bytes = HEAD_BYTES; ; bytes *= 4) {
    const { records, end } = await recordsIn(file, { from: 0, to: Math.min(bytes, size), size });
    const isLast = bytes >= size || bytes >= MAX_HEAD_BYTES;
    const [first, ...others] = records;
    const header = first && asHeader(first);
    if (header === undefined && (first !== undefined || isLast)) return undefined;
    if (header === undefined) continue;
    if (cwd !== undefined && header.cwd !== cwd) return undefined;
    if (!isInWorkspace(header, workspaceId)) return undefined;
    const entries = asEntries(others);
    if (isLast || entries.some(isPrompt)) return { header, entries, end };
  }
}

/** The records on the complete lines in a part of a file, and where these lines end. */
async function recordsIn(
  file: FileHandle,
  { from, to, size }: { readonly from: number; readonly to: number; readonly size: number },
): Promise<{ readonly records: readonly Record<string, unknown>[]; readonly end: number }> {
  const buffer = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  // The last line of a file may lack a line feed.
  const end = to === size ? bytesRead : buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED) + 1;
  const lines = buffer.toString("utf8", 0, end).split("\n");
  const records = lines.map(parseObject).filter((record) => record !== undefined);
  return { records, end: from + end };
}

function asEntries(records: readonly Record<string, unknown>[]): SessionEntry[] {
  return records.map((record) => mendEntry(record) as unknown as SessionEntry);
}

function isPrompt(given: SessionEntry): boolean {
  const entry = given as KnownSessionEntry;
  return entry.type === "message" && entry.message?.role === "user";
}
