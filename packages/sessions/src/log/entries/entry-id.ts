import { randomUuid } from "@tau-agent/system";

/** Attempts to find a free short id before falling back to a long one. */
const MAX_DRAWS = 100;

/** A new entry id: eight unused hex digits, or a whole UUID. */
export function createEntryId(isTaken: (id: string) => boolean): string {
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    // Ids are not secret and are needed for every message; the system's random bytes would be slower.
    const id = Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
    if (!isTaken(id)) return id;
  }
  return randomUuid();
}
