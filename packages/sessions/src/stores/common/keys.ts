import { type SessionKey, SessionStoreError } from "../../log/store/session-store.ts";

/**
 * A key as one text; different keys have different texts. JSON escapes all characters of a text,
 * including lone surrogates.
 *
 * @throws {SessionStoreError} `invalid_key`
 */
export function keyText({ projectKey, sessionId, subpath }: SessionKey): string {
  checkName("projectKey", projectKey);
  checkName("sessionId", sessionId);
  if (subpath === undefined) return JSON.stringify([projectKey, sessionId]);
  checkName("subpath", subpath);
  return JSON.stringify([projectKey, sessionId, subpath]);
}

/**
 * Checks a part of a key.
 *
 * @throws {SessionStoreError} `invalid_key`
 */
export function checkName(name: string, value: unknown): void {
  if (typeof value === "string" && value !== "") return;
  throw new SessionStoreError("invalid_key", `${name} must be a text that is not empty`);
}

/**
 * Checks the requested duration of a lease.
 *
 * @throws {SessionStoreError} `invalid_argument`
 */
export function checkTtl(ttlMs: unknown): void {
  if (typeof ttlMs === "number" && ttlMs > 0 && Number.isFinite(ttlMs)) return;
  throw new SessionStoreError("invalid_argument", "ttlMs must be a positive number");
}
