import { type LeaseToken, SessionStoreError } from "../../log/store/session-store.ts";

/** What a store keeps about the leases of a key. It outlives the log, because tokens increase forever. */
export interface LeaseRecord {
  readonly token: number;
  /** When it expires, by the clock that is passed to {@link isLiving}. */
  readonly expiresAt: number;
  readonly isReleased: boolean;
  readonly owner?: string | undefined;
}

export function isLiving(record: LeaseRecord | undefined, now: number): boolean {
  return record !== undefined && !record.isReleased && record.expiresAt > now;
}

/**
 * Refuses a token that is not the newest, or was released.
 *
 * @throws {SessionStoreError} `lease_lost`
 */
export function checkToken(record: LeaseRecord | undefined, { token }: LeaseToken): LeaseRecord {
  if (record === undefined || record.isReleased || record.token !== token) {
    throw new SessionStoreError("lease_lost");
  }
  return record;
}
