import { basename, join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { FileHome, type SessionHome, sessionDirectoryFor } from "@tau-agent/sessions/log";
import { isPeriod, MAX_PERIOD_MS, type SettingsStore } from "@tau-agent/system";
import { type Places, sessionDirectory } from "./places.ts";
import type { SessionSetup } from "./session-options.ts";

export interface SessionPlace {
  readonly home: SessionHome;
  /** Closes the connections of a store that was opened here. */
  readonly closeStore?: (() => Promise<void>) | undefined;
}

export function isStoreNamed(options: SessionSetup, settings: SettingsStore): boolean {
  return storeOf(options, settings) !== undefined;
}

/**
 * Where sessions are stored: in files, unless a store is given. Code for stores is loaded only if needed.
 *
 * @throws {SessionError} `invalid_option` for a store that cannot be loaded, or a lease that cannot last
 */
export async function sessionPlace(
  options: SessionSetup,
  places: Places,
  settings: SettingsStore,
): Promise<SessionPlace> {
  const named = storeOf(options, settings);
  options.beforeOpen?.({ isStored: named !== undefined });
  if (named === undefined) return { home: fileHome(options, places, settings) };
  const { openStore, StoredSessions, SessionFiles, processOwner } = await import(
    "@tau-agent/sessions/stored"
  );
  const leaseMs = options.leaseMs ?? settings.get("session.leaseMs");
  if (!isPeriod(leaseMs)) {
    const reason = `it must be a whole number from 1 to ${MAX_PERIOD_MS}, not ${leaseMs}`;
    throw new SessionError("invalid_option", { option: "leaseMs", reason });
  }
  const store = typeof named === "string" ? await openStore(named, places.baseDirectory) : named;
  const access = {
    store,
    projectKey: options.projectKey ?? projectKeyOf(places),
    leaseMs,
    timeoutMs: settings.get("session.storeTimeoutMs"),
    owner: processOwner(),
    files: new SessionFiles(store, places.temporaryDirectory),
  };
  const home = new StoredSessions(access, places.workspaceId);
  return { home, closeStore: store === named ? undefined : async () => store.close?.() };
}

function projectKeyOf({ agentDirectory, cwd, workspaceId }: Places): string {
  if (workspaceId !== undefined) return `${workspaceId}:${cwd}`;
  return basename(sessionDirectoryFor(agentDirectory, { cwd }));
}

function fileHome(options: SessionSetup, places: Places, settings: SettingsStore): FileHome {
  return new FileHome(places, {
    directoryOf: (cwd) => sessionDirectory(options, { ...places, cwd }, settings),
    root: join(places.agentDirectory, "sessions"),
    fsync: isDurable(options, settings) ? "entry" : settings.get("session.fsync"),
  });
}

/**
 * Whether effects survive the host (decision 63).
 *
 * @throws {SessionError} `invalid_option` if the log would not survive
 */
export function isDurable({ durability }: SessionSetup, settings: SettingsStore): boolean {
  if ((durability ?? settings.get("durability")) !== "effects") return false;
  const fsync = settings.get("session.fsync");
  if (!settings.has("session.fsync") || fsync === "entry") return true;
  const reason = `durability effects needs entry, not ${fsync}`;
  throw new SessionError("invalid_option", { option: "session.fsync", reason });
}

function storeOf(
  { store, session, taskDepth = 0 }: SessionSetup,
  settings: SettingsStore,
): SessionSetup["store"] {
  if (session?.kind === "memory" || session?.kind === "log") return undefined;
  // A subagent's session belongs to its caller's session, which copies it into the store.
  return taskDepth > 0 ? undefined : (store ?? settings.get("session.store"));
}
