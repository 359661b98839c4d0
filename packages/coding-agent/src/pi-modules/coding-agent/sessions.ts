import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import {
  buildSessionContext,
  listAllSessions,
  type SessionInfo,
  SessionLog,
  sessionDirectoryFor,
  sessionsIn,
} from "@tau-agent/sessions/log";
import type { HostPlaces } from "../base/host-places.ts";
import {
  fileWithId,
  forkManager,
  latestFile,
  newManager,
  openManager,
  parseSessionEntries,
} from "./session-manager.ts";

export function piSessions(places: HostPlaces): object {
  const folder = (cwd = places.cwd) => sessionDirectoryFor(places.agentDirectory, { cwd });
  const create = (cwd = places.cwd, directory = folder(cwd), options = {}) =>
    newManager(cwd, directory, options);
  return {
    SessionManager: {
      open: (path: string, _directory?: string, cwd = places.cwd) => openManager(path, cwd),
      create,
      continueRecent: (cwd = places.cwd, directory = folder(cwd)) => {
        const latest = latestFile(directory);
        return latest === undefined ? create(cwd, directory) : openManager(latest, cwd);
      },
      forkFrom: (path: string, cwd = places.cwd, directory = folder(cwd)) =>
        forkManager(path, cwd, directory),
      findById: (cwd: string, id: string, directory = folder(cwd)) => fileWithId(directory, id),
      inMemory: (cwd = places.cwd, options = {}) => newManager(cwd, undefined, options),
      list: async (cwd?: string, directory?: string) =>
        (await sessionsIn(directory ?? folder(cwd))).map(withDates),
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

/** pi's lists contain dates where ours contain text. */
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
