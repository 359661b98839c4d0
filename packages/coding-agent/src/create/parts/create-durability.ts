import { isDurable } from "../options/session-place.ts";
import type { Durability } from "./durability.ts";
import type { SessionDraft } from "./session-draft.ts";

/** Undefined where only the conversation survives; loaded where more does (row `start`). */
export async function createDurability(draft: SessionDraft): Promise<Durability | undefined> {
  const { options, settings } = draft.surroundings;
  if (!isDurable(options, settings)) return undefined;
  const { openDurability } = await import("./open-durability.ts");
  return openDurability(draft);
}
