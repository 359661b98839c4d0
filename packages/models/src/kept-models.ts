import { join } from "node:path";
import { isRecent, LastKept, stampOf, statOf } from "@tau-agent/system";
import { type CustomModels, loadCustomModels } from "./custom-models.ts";
import type { KnownModels } from "./custom-schema.ts";

/**
 * What the models.json that was read last says, for as long as the file stays as it is: the sessions of a host
 * have the same one. They know the same catalogue.
 */
export class KeptModels {
  readonly #last = new LastKept<Promise<CustomModels>>();

  /** As {@link loadCustomModels}. */
  load(agentDirectory: string, known: KnownModels): Promise<CustomModels> {
    const found = statOf(join(agentDirectory, "models.json"));
    if (found === undefined || isRecent(found)) return loadCustomModels(agentDirectory, known);
    const key = [agentDirectory, stampOf(found), known.apis].join("\n");
    return this.#last.get(key, () => loadCustomModels(agentDirectory, known));
  }
}
