import { randomUUID } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { Usage } from "@tau-agent/rpc-protocol/messages";
import { encodeLine } from "@tau-agent/rpc-protocol/plain";
import { sessionWriter } from "../extensions/session-view.ts";
import { migrateEntries } from "../session/migrate.ts";
import type { SessionStart } from "../session/open-session.ts";
import { type NewEntry, SessionLog } from "../session/session-log.ts";
import { sessionFileName } from "../session/session-path.ts";

/** Where a manager's session is, and what a session made from the manager begins with. */
const placeOf: unique symbol = Symbol("the manager's session");

/** What a manager holds; the log is another one once a session works with it. */
interface ManagedSession {
  readonly cwd: string;
  /** The folder of its file; undefined for one in memory. */
  readonly directory: string | undefined;
  /** A file that was there before; what is written is added to it. */
  readonly path: string | undefined;
  log: () => SessionLog;
  /** Whether a session works with it: that one does the writing. */
  isLive: boolean;
}

/** A new session; it gets a file in `directory` with its first message. */
export function newManager(
  cwd: string,
  directory: string | undefined,
  options: { readonly id?: string; readonly parentSession?: string } = {},
) {
  const { parentSession, id = randomUUID() } = options;
  const log = SessionLog.create({ cwd, id, directory, parentSession });
  return createManager({ cwd, directory, path: undefined, log: () => log, isLive: false });
}

/** The session of a file. */
export function openManager(path: string, cwd: string) {
  const log = readLog(path, cwd);
  const place = { cwd: log.header.cwd, directory: dirname(path), path };
  return createManager({ ...place, log: () => log, isLive: false });
}

/** A copy of the session of a file, with a file of its own. */
export function forkManager(path: string, cwd: string, directory: string) {
  const source = readLog(path, cwd);
  const log = SessionLog.create({ cwd, directory, parentSession: path });
  log.takeOver(source.tree.entries);
  return createManager({ cwd, directory, path: undefined, log: () => log, isLive: false });
}

/** The latest session file of a folder. */
export function latestFile(directory: string): string | undefined {
  return sessionFiles(directory)
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((a, b) => b.at - a.at)[0]?.path;
}

/** The session file of a folder whose session has this id. */
export function fileWithId(directory: string, id: string): string | undefined {
  return sessionFiles(directory).find((path) => path.endsWith(`_${id}.jsonl`));
}

/** How a session that is to work with a manager begins; undefined for what is no manager of ours. */
export function startOf(manager: unknown): { start: SessionStart; directory?: string } | undefined {
  const managed = managedBy(manager);
  if (managed === undefined) return undefined;
  const { path, directory, log } = managed;
  const start: SessionStart =
    path === undefined ? { kind: "log", log: log() } : { kind: "file", path };
  return { start, ...(directory === undefined ? {} : { directory }) };
}

/** From now on the manager shows the session that works with it. */
export function attach(manager: unknown, log: () => SessionLog): void {
  const managed = managedBy(manager);
  if (managed === undefined) return;
  managed.log = log;
  managed.isLive = true;
}

/** Header and entries of a session file's text; lines that are none are left out. */
export function parseSessionEntries(text: string): unknown[] {
  const entries: unknown[] = [];
  for (const line of text.split("\n")) {
    try {
      if (line.trim() !== "") entries.push(JSON.parse(line));
    } catch {
      // A damaged line costs no more than itself.
    }
  }
  return entries;
}

function managedBy(manager: unknown): ManagedSession | undefined {
  return (manager as { [placeOf]?: ManagedSession } | undefined)?.[placeOf];
}

/** A session that extensions open beside the one that runs. */
function createManager(managed: ManagedSession) {
  const log = (): SessionLog => managed.log();
  const append = (entry: NewEntry): SessionEntry => {
    const written = log().append(entry);
    // The copy of a file that somebody else may have open: only lines are added.
    if (managed.path !== undefined && !managed.isLive) {
      appendFileSync(managed.path, encodeLine(written));
    }
    return written;
  };
  const file = (): string | undefined => managed.path ?? log().path;
  return {
    [placeOf]: managed,
    ...sessionWriter(log, append),
    getSessionFile: file,
    getSessionDir: () => managed.directory ?? "",
    isPersisted: () => file() !== undefined,
    usesDefaultSessionDir: () => false,
    ...furtherEntries(append),
    ...leafMoves(log, append),
    createBranchedSession: (leafId: string) => {
      const { directory, cwd } = managed;
      const parentSession = file();
      const path =
        directory && join(directory, sessionFileName(new Date().toISOString(), randomUUID()));
      const next = SessionLog.create({ cwd, path, parentSession });
      next.takeOver(log().tree.branch(leafId));
      managed.log = () => next;
      return next.path;
    },
  };
}

function furtherEntries(append: (entry: NewEntry) => SessionEntry) {
  return {
    appendThinkingLevelChange: (thinkingLevel: string) =>
      append({ type: "thinking_level_change", thinkingLevel } as NewEntry).id,
    appendModelChange: (provider: string, modelId: string) =>
      append({ type: "model_change", provider, modelId }).id,
    appendCompaction: (
      summary: string,
      firstKeptEntryId: string,
      tokensBefore: number,
      details?: unknown,
      fromHook?: boolean,
      usage?: Usage,
    ) =>
      append({
        type: "compaction",
        summary,
        firstKeptEntryId,
        tokensBefore,
        ...given({ details, fromHook, usage }),
      } as NewEntry).id,
  };
}

/** Moves of the place where the next entry hangs. */
function leafMoves(log: () => SessionLog, append: (entry: NewEntry) => SessionEntry) {
  return {
    branch: (id: string) => log().tree.moveLeaf(id),
    resetLeaf: () => log().tree.moveLeaf(null),
    branchWithSummary: (
      id: string | null,
      summary: string,
      ...[details, fromHook]: readonly unknown[]
    ) => {
      log().tree.moveLeaf(id);
      return append({
        type: "branch_summary",
        fromId: id ?? "root",
        summary,
        ...given({ details, fromHook }),
      } as NewEntry).id;
    },
  };
}

function given(values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function readLog(path: string, cwd: string): SessionLog {
  const [header, ...entries] = parseSessionEntries(readFileSync(path, "utf8")) as [
    SessionHeader,
    ...Record<string, unknown>[],
  ];
  const log = SessionLog.create({ cwd: header?.cwd ?? cwd, id: header?.id });
  log.takeOver(migrateEntries({ header, entries }));
  return log;
}

function sessionFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}
