import { randomUuid } from "@tau-agent/system";

/** Attempts to find a free short id before a long one is used. */
const MAX_DRAWS = 100;

/** A new entry id: eight hex digits that are not taken, or a whole UUID. */
export function createEntryId(isTaken: (id: string) => boolean): string {
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    // Not a secret, and needed for every message: the system's own random bytes are slower.
    const id = Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
    if (!isTaken(id)) return id;
  }
  return randomUuid();
}
