import { randomBytes, randomUUID } from "node:crypto";

/** Draws before a short id is given up for a long one. */
const MAX_DRAWS = 100;

/** A new entry id: eight hex digits that `isTaken` does not know, or a whole UUID. */
export function createEntryId(isTaken: (id: string) => boolean): string {
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const id = randomBytes(4).toString("hex");
    if (!isTaken(id)) return id;
  }
  return randomUUID();
}
