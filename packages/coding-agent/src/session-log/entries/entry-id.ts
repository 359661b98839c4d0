import { randomUuid } from "../../base/random.ts";

/** Draws before a short id is given up for a long one. */
const MAX_DRAWS = 100;

/** A new entry id: eight hex digits that `isTaken` does not know, or a whole UUID. */
export function createEntryId(isTaken: (id: string) => boolean): string {
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    // No secret, and asked for with every message: the system's own bytes would take longer to get.
    const id = Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
    if (!isTaken(id)) return id;
  }
  return randomUuid();
}
