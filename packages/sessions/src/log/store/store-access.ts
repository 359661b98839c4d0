import type { SessionFiles } from "./session-files.ts";
import type { SessionKey, SessionStore } from "./session-store.ts";

export interface StoreAccess {
  readonly store: SessionStore;
  readonly projectKey: string;
  /** How long a lease lasts; it is renewed when a third of this has passed. */
  readonly leaseMs: number;
  /** How long a write may take before the prompt fails. */
  readonly timeoutMs: number;
  /** Who holds leases, for people; a file store also sees whether the process lives. */
  readonly owner: string;
  readonly files?: SessionFiles | undefined;
  /** Stores a session file of this machine as a log, unless there is none. */
  readonly putLog?: ((key: SessionKey, path: string) => Promise<boolean>) | undefined;
}

export interface StoreReports {
  /** A write takes long, or no longer does. */
  readonly onStatus: (status: "waiting" | "ok") => void;
  /** Another host has taken the session over. */
  readonly onLost: () => void;
  /** The store did not take a write in time; what it had not acknowledged has left the log. */
  readonly onFailed: () => void;
}

/** How a store is called where a file would be named by its path. */
export function placeOf({ projectKey }: StoreAccess, sessionId: string): string {
  return `${sessionId} of ${projectKey} in the store`;
}

/** What names a log within its project: the session's id, with the subpath of a part behind it. */
export function referenceOf({ sessionId, subpath }: SessionKey): string {
  return subpath === undefined ? sessionId : `${sessionId}/${subpath}`;
}

/** The log that a reference names; ids of sessions have no slash. */
export function keyOf({ projectKey }: StoreAccess, reference: string): SessionKey {
  const [sessionId = "", ...rest] = reference.split("/");
  const subpath = rest.join("/");
  return subpath === "" ? { projectKey, sessionId: reference } : { projectKey, sessionId, subpath };
}

/** The code of a store's error; undefined for anything else. */
export function storeErrorCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
