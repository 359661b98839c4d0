import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { sessionWriter } from "../extensions/session-view.ts";
import { listAllSessions, listSessions, type SessionInfo } from "../session/list-sessions.ts";
import { migrateEntries } from "../session/migrate.ts";
import { buildSessionContext } from "../session/session-context.ts";
import { SessionLog } from "../session/session-log.ts";
import { sessionDirectoryFor } from "../session/session-path.ts";
import type { HostPlaces } from "./host-places.ts";

/** A session that extensions open beside the one that runs: read from its file, written in memory. */
function sessionManager(log: SessionLog, file?: string) {
  return {
    ...sessionWriter(() => log),
    getSessionFile: () => file,
    isPersisted: () => file !== undefined,
  };
}

/** Header and entries of a session file's text; lines that are none are left out. */
function parseSessionEntries(text: string): unknown[] {
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

function openSession(path: string, cwd: string) {
  const [header, ...entries] = parseSessionEntries(readFileSync(path, "utf8")) as [
    SessionHeader,
    ...Record<string, unknown>[],
  ];
  const log = SessionLog.create({ cwd: header?.cwd ?? cwd, id: header?.id });
  for (const entry of migrateEntries({ header, entries })) log.tree.adopt(entry);
  return sessionManager(log, path);
}

/** What stands in for the family's functions around session files. */
export function familySessions(places: HostPlaces): object {
  const folder = (cwd = places.cwd) => sessionDirectoryFor(places.agentDirectory, cwd);
  const inMemory = (cwd = places.cwd) =>
    sessionManager(SessionLog.create({ cwd, id: randomUUID() }));
  return {
    SessionManager: {
      open: (path: string) => openSession(path, places.cwd),
      create: inMemory,
      inMemory,
      list: async (cwd?: string, directory?: string) =>
        (await listSessions(directory ?? folder(cwd))).map(withDates),
      listAll: async () =>
        (await listAllSessions(join(places.agentDirectory, "sessions"))).map(withDates),
      getDefaultSessionDir: folder,
    },
    CURRENT_SESSION_VERSION: 3,
    parseSessionEntries,
    migrateSessionEntries: (entries: unknown[]) => entries,
    buildSessionContext: (entries: SessionEntry[], leafId?: string | null) =>
      contextOf(entries, leafId),
    getLatestCompactionEntry: (entries: readonly KnownSessionEntry[]) =>
      entries.findLast((entry) => entry.type === "compaction") ?? null,
  };
}

/** The family's lists hold dates, ours their text. */
function withDates(info: SessionInfo) {
  const { created, modified } = info;
  return { ...info, created: new Date(created), modified: new Date(modified) };
}

function contextOf(entries: readonly SessionEntry[], leafId?: string | null) {
  const log = SessionLog.create({ cwd: "" });
  for (const entry of entries) log.tree.adopt(entry);
  const { messages, thinkingLevel, model } = buildSessionContext(
    log.tree.branch(leafId === undefined ? log.tree.leafId : leafId),
  );
  return { messages, thinkingLevel: thinkingLevel ?? "off", model: model ?? null };
}
