import { join } from "node:path";
import { isRecent, LastKept, stampOf, statOf } from "@tau-agent/system";
import { type CustomModels, loadCustomModels } from "./custom-models.ts";
import type { KnownModels } from "./custom-schema.ts";

/**
 * Caches the last models.json read, until the file changes: the sessions of a host share one, and use the same
 * catalogue.
 */
export class KeptModels {
  readonly #last = new LastKept<Promise<CustomModels>>();

  /** Same as {@link loadCustomModels}. */
  load(agentDirectory: string, known: KnownModels): Promise<CustomModels> {
    const found = statOf(join(agentDirectory, "models.json"));
    if (found === undefined || isRecent(found)) return loadCustomModels(agentDirectory, known);
    const key = [agentDirectory, stampOf(found), known.apis].join("\n");
    return this.#last.get(key, () => loadCustomModels(agentDirectory, known));
  }
}
