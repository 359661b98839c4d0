import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { contentText, LineDecoder, parseObject } from "@tau-agent/rpc-protocol/plain";
import { mapSome } from "@tau-agent/system";
import { mendEntry } from "./entries/mend-entry.ts";
import { isInWorkspace, type SessionProject } from "./session-project.ts";

/** A session in a list; times are ISO 8601. */
export interface SessionInfo {
  /** The path of its file, or its id in a store. */
  readonly path: string;
  readonly id: string;
  readonly cwd: string;
  /** The workspace of its folder; absent for the host's own machine. */
  readonly workspaceId?: string;
  readonly name?: string;
  readonly parentSessionPath?: string;
  readonly created: string;
  /** The time of the last message from the user or the model. */
  readonly modified: string;
  readonly messageCount: number;
  readonly firstMessage: string;
}

const CONCURRENCY = 8;
const MAX_FIRST_MESSAGE_CHARACTERS = 500;

/** The sessions in a folder, the latest first. Files that are not sessions are skipped. */
export async function sessionsIn(directory: string): Promise<SessionInfo[]> {
  const infos = await mapSome(await sessionFiles(directory), CONCURRENCY, readSessionInfo);
  return latestFirst(infos.filter((info) => info !== undefined));
}

export function latestFirst(sessions: readonly SessionInfo[]): SessionInfo[] {
  return sessions.toSorted((a, b) => b.modified.localeCompare(a.modified));
}

/** The sessions in every folder below `root`. */
export async function listAllSessions(root: string): Promise<SessionInfo[]> {
  const lists: SessionInfo[][] = [];
  for (const folder of await foldersIn(root)) lists.push(await sessionsIn(folder));
  return latestFirst(lists.flat());
}

export async function foldersIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
}

/** The session file with exactly this id in one of the given folders. */
export async function sessionIn(
  folders: readonly string[],
  id: string,
): Promise<string | undefined> {
  const paths: string[] = [];
  for (const folder of folders) paths.push(...(await sessionFiles(folder)).reverse());
  return firstWithId(paths, id, () => true);
}

async function firstWithId(
  paths: readonly string[],
  id: string,
  fits: (header: SessionHeader) => boolean,
): Promise<string | undefined> {
  // Pi puts the id into the file name; files with other names have to be read.
  const isNamed = (path: string): boolean => path.endsWith(`_${id}.jsonl`);
  for (const path of [...paths.filter(isNamed), ...paths.filter((path) => !isNamed(path))]) {
    const header = await readHeader(path).catch(() => undefined);
    if (header?.id === id && fits(header)) return path;
  }
  return undefined;
}

/**
 * The most recently written session file in a folder that belongs to a project. Reads only headers,
 * and no more than necessary.
 */
export async function latestSession(
  directory: string,
  project: SessionProject,
): Promise<string | undefined> {
  const paths = await sessionFiles(directory);
  const dated = await Promise.all(
    paths.map(async (path) => ({
      path,
      mtimeMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  );
  for (const { path } of dated.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    const header = await readHeader(path);
    if (header && isOfProject(header, project)) return path;
  }
  return undefined;
}

/** The latest session file in a folder that belongs to a project and has exactly this id. */
export async function sessionWithId(
  directory: string,
  project: SessionProject,
  id: string,
): Promise<string | undefined> {
  const paths = (await sessionFiles(directory)).reverse();
  return firstWithId(paths, id, (header) => isOfProject(header, project));
}

/** The session file in a folder whose id equals or begins with `id`. */
export async function findSession(directory: string, id: string): Promise<string | undefined> {
  const candidates = (await sessionFiles(directory)).reverse();
  const byName = candidates.find((path) => path.endsWith(`_${id}.jsonl`));
  if (byName !== undefined) return byName;
  for (const path of candidates) {
    const header = await readHeader(path);
    if (header?.id.startsWith(id)) return path;
  }
  return undefined;
}

function isOfProject(header: SessionHeader, { cwd, workspaceId }: SessionProject): boolean {
  return header.cwd === cwd && isInWorkspace(header, workspaceId);
}

async function sessionFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(directory, name));
}

/** The header of a session file; reads no more than its first lines. */
export async function readHeader(path: string): Promise<SessionHeader | undefined> {
  for await (const record of records(path)) return asHeader(record);
  return undefined;
}

async function readSessionInfo(path: string): Promise<SessionInfo | undefined> {
  let header: SessionHeader | undefined;
  const facts: SessionFacts = { count: 0 };
  try {
    for await (const record of records(path)) {
      if (header === undefined) {
        header = asHeader(record);
        if (header === undefined) return undefined;
      } else noteEntry(mendEntry(record) as unknown as KnownSessionEntry, facts);
    }
  } catch {
    return undefined;
  }
  return header && infoWith(facts, path, header);
}

export function infoOf(
  path: string,
  header: SessionHeader,
  entries: readonly SessionEntry[],
): SessionInfo {
  const facts: SessionFacts = { count: 0 };
  for (const entry of entries) noteEntry(entry as KnownSessionEntry, facts);
  return infoWith(facts, path, header);
}

interface SessionFacts {
  name?: string | undefined;
  first?: string;
  modified?: string;
  count: number;
}

function infoWith(facts: SessionFacts, path: string, header: SessionHeader): SessionInfo {
  return {
    path,
    id: header.id,
    cwd: header.cwd,
    ...(header.workspace === undefined ? {} : { workspaceId: header.workspace.id }),
    ...(facts.name ? { name: facts.name } : {}),
    ...(typeof header.parentSession === "string"
      ? { parentSessionPath: header.parentSession }
      : {}),
    created: header.timestamp,
    modified: facts.modified ?? header.timestamp,
    messageCount: facts.count,
    firstMessage: facts.first ?? "(no messages)",
  };
}

function noteEntry(entry: KnownSessionEntry, facts: SessionFacts): void {
  if (entry.type === "session_info") facts.name = entry.name;
  if (entry.type !== "message") return;
  facts.count += 1;
  const { message } = entry;
  if (message?.role !== "user" && message?.role !== "assistant") return;
  facts.modified = entry.timestamp;
  if (message.role === "user") {
    facts.first ??= contentText(message.content).slice(0, MAX_FIRST_MESSAGE_CHARACTERS);
  }
}

export function asHeader(record: Record<string, unknown>): SessionHeader | undefined {
  const { type, id, cwd, timestamp } = record;
  const isHeader = type === "session" && typeof id === "string" && typeof timestamp === "string";
  return isHeader
    ? ({ ...record, cwd: typeof cwd === "string" ? cwd : "" } as SessionHeader)
    : undefined;
}

async function* records(path: string): AsyncGenerator<Record<string, unknown>> {
  const decoder = new LineDecoder();
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    yield* recordsOf(decoder.push(chunk));
  }
  yield* recordsOf(decoder.end());
}

function* recordsOf(lines: ReturnType<LineDecoder["push"]>): Generator<Record<string, unknown>> {
  for (const line of lines) {
    const record = "text" in line ? parseObject(line.text) : undefined;
    if (record !== undefined) yield record;
  }
}
