import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { Usage } from "@tau-agent/rpc-protocol/messages";
import { encodeLine } from "@tau-agent/rpc-protocol/plain";
import {
  migrateEntries,
  type NewEntry,
  SessionLog,
  type SessionStart,
  sessionFileName,
} from "@tau-agent/sessions/log";
import { attempt, makeFolderNow } from "@tau-agent/system";
import { sessionWriter } from "../../extensions/context/session-view.ts";

/** Where a manager's session is stored, and how a session created from the manager begins. */
const placeOf: unique symbol = Symbol("the manager's session");

/** The state of a manager; the log is replaced once a session works with it. */
interface ManagedSession {
  readonly cwd: string;
  /** The folder of its file; undefined in memory. */
  readonly directory: string | undefined;
  /** The path of its existing or future file. */
  path: string | undefined;
  /** Whether the file exists. Other processes may use it, too, because only whole lines are appended. */
  isWritten: boolean;
  log: () => SessionLog;
  /** Whether a session works with it: then that session writes the file. */
  isLive: boolean;
}

/** A new session; its file is created in `directory` with the first message. */
export function newManager(
  cwd: string,
  directory: string | undefined,
  options: { readonly id?: string; readonly parentSession?: string } = {},
) {
  const { parentSession, id = randomUUID() } = options;
  const log = SessionLog.create({ cwd, id, parentSession });
  return createManager({
    cwd,
    directory,
    path: directory && join(directory, sessionFileName(log.header.timestamp, id)),
    isWritten: false,
    log: () => log,
    isLive: false,
  });
}

/** The session in a file; without a file, a new session there. */
export function openManager(path: string, cwd: string) {
  const isWritten = existsSync(path) && statSync(path).size > 0;
  const log = isWritten ? readLog(path, cwd) : SessionLog.create({ cwd });
  const directory = dirname(path);
  return createManager({
    cwd: log.header.cwd,
    directory,
    path,
    isWritten,
    log: () => log,
    isLive: false,
  });
}

/** A copy of a file's session, with its own file. */
export function forkManager(path: string, cwd: string, directory: string) {
  const manager = newManager(cwd, directory, { parentSession: path });
  const { entries } = readLog(path, cwd).tree;
  begin(manager[placeOf], entries);
  return manager;
}

export function latestFile(directory: string): string | undefined {
  return sessionFiles(directory)
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((a, b) => b.at - a.at)[0]?.path;
}

/** The session file with this id in a folder. */
export function fileWithId(directory: string, id: string): string | undefined {
  return sessionFiles(directory).find((path) => path.endsWith(`_${id}.jsonl`));
}

/** How a session with a given manager begins; undefined if the manager is not ours. */
export function startOf(manager: unknown): { start: SessionStart; directory?: string } | undefined {
  const managed = managedBy(manager);
  if (managed === undefined) return undefined;
  const { directory } = managed;
  const place = directory === undefined ? {} : { directory };
  const { path, isWritten, log } = managed;
  if (path === undefined) return { start: { kind: "log", log: log() }, ...place };
  if (isWritten) return { start: { kind: "file", path }, ...place };
  const { header, tree } = log();
  const next = SessionLog.create({ ...header, path });
  next.takeOver(tree.entries);
  return { start: { kind: "log", log: next }, ...place };
}

/** Makes the manager show the session that works with it. */
export function attach(manager: unknown, log: () => SessionLog): void {
  const managed = managedBy(manager);
  if (managed === undefined) return;
  managed.log = log;
  managed.isLive = true;
}

/** The header and entries of a session file, without malformed lines. */
export function parseSessionEntries(text: string): unknown[] {
  const entries: unknown[] = [];
  for (const line of text.split("\n")) {
    try {
      if (line.trim() !== "") entries.push(JSON.parse(line));
    } catch {
      // A damaged line affects no other line.
    }
  }
  return entries;
}

function managedBy(manager: unknown): ManagedSession | undefined {
  return (manager as { [placeOf]?: ManagedSession } | undefined)?.[placeOf];
}

/** A session that an extension opens in addition to the running one. */
function createManager(managed: ManagedSession) {
  const log = (): SessionLog => managed.log();
  const append = (entry: NewEntry): SessionEntry => {
    const written = log().append(entry);
    if (!managed.isLive) keep(managed, written);
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
      const entries = log().tree.branch(leafId);
      const next = SessionLog.create({ cwd, id: randomUUID(), parentSession: file() });
      const { timestamp, id } = next.header;
      Object.assign(managed, { log: () => next, isLive: false, isWritten: false });
      managed.path = directory && join(directory, sessionFileName(timestamp, id));
      begin(managed, entries);
      return managed.path;
    },
  };
}

function begin(managed: ManagedSession, entries: readonly SessionEntry[]): void {
  managed.log().takeOver(entries);
  const message = entries.find(isConversation);
  if (message !== undefined) keep(managed, message);
}

/** Appends an entry to the file; the first message of a conversation also writes everything before it. */
function keep(managed: ManagedSession, entry: SessionEntry): void {
  const { path } = managed;
  if (path === undefined) return;
  if (managed.isWritten) appendFileSync(path, encodeLine(entry));
  else if (isConversation(entry)) {
    const { header, tree } = managed.log();
    makeFolderNow(dirname(path), 0o700);
    writeFileSync(path, [header, ...tree.entries].map(encodeLine).join(""), { mode: 0o600 });
    managed.isWritten = true;
  }
}

function isConversation({ type }: SessionEntry): boolean {
  return type === "message" || type === "custom_message";
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

/** Moves the position where the next entry is attached. */
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
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(directory, name));
}
