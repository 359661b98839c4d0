import { isDurable } from "../options/session-place.ts";
import type { Durability } from "./durability.ts";
import type { SessionDraft } from "./session-draft.ts";

/** Undefined if only the conversation survives; otherwise loads the code for durable effects (row `start`). */
export async function createDurability(draft: SessionDraft): Promise<Durability | undefined> {
  const { options, settings } = draft.surroundings;
  if (!isDurable(options, settings)) return undefined;
  const { openDurability } = await import("./open-durability.ts");
  return openDurability(draft);
}
