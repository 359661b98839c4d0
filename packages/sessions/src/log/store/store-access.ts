import type { SessionFiles } from "./session-files.ts";
import type { SessionKey, SessionStore } from "./session-store.ts";

export interface StoreAccess {
  readonly store: SessionStore;
  readonly projectKey: string;
  /** How long a lease lasts; it is renewed after a third of this time. */
  readonly leaseMs: number;
  /** How long a write may take before the prompt fails. */
  readonly timeoutMs: number;
  /** The holder of leases, for people to read; a file store also derives from it whether the process lives. */
  readonly owner: string;
  readonly files?: SessionFiles | undefined;
  /** Stores a session file of this machine as a log; false if there is no such file. */
  readonly putLog?: ((key: SessionKey, path: string) => Promise<boolean>) | undefined;
}

export interface StoreReports {
  /** Called when a write takes long, and when it no longer does. */
  readonly onStatus: (status: "waiting" | "ok") => void;
  /** Another host has taken over the session. */
  readonly onLost: () => void;
  /** The store did not accept a write in time; entries that it had not acknowledged are removed from the log. */
  readonly onFailed: () => void;
}

/** The store's name where a path would name a file. */
export function placeOf({ projectKey }: StoreAccess, sessionId: string): string {
  return `${sessionId} of ${projectKey} in the store`;
}

/** The name of a log within its project: the session's id, followed by the subpath of a part. */
export function referenceOf({ sessionId, subpath }: SessionKey): string {
  return subpath === undefined ? sessionId : `${sessionId}/${subpath}`;
}

/** The log with this reference; session ids contain no slash. */
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
