import { type LeaseToken, SessionStoreError } from "../../log/store/session-store.ts";

/** What a store keeps of the leases of a key. It outlives the log: tokens rise forever. */
export interface LeaseRecord {
  readonly token: number;
  /** When it runs out, by the clock that {@link isLiving} is asked with. */
  readonly expiresAt: number;
  readonly isReleased: boolean;
  readonly owner?: string | undefined;
}

export function isLiving(record: LeaseRecord | undefined, now: number): boolean {
  return record !== undefined && !record.isReleased && record.expiresAt > now;
}

/**
 * Refuses what does not have the newest token, or has one that was released.
 *
 * @throws {SessionStoreError} `lease_lost`
 */
export function checkToken(record: LeaseRecord | undefined, { token }: LeaseToken): LeaseRecord {
  if (record === undefined || record.isReleased || record.token !== token) {
    throw new SessionStoreError("lease_lost");
  }
  return record;
}
