import { randomHex, randomUuid } from "../random.ts";

/** Draws before a short id is given up for a long one. */
const MAX_DRAWS = 100;

/** A new entry id: eight hex digits that `isTaken` does not know, or a whole UUID. */
export function createEntryId(isTaken: (id: string) => boolean): string {
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const id = randomHex(4);
    if (!isTaken(id)) return id;
  }
  return randomUuid();
}
