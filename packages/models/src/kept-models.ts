import { join } from "node:path";
import { isRecent, stampOf, statOf } from "@tau-agent/system";
import { type CustomModels, loadCustomModels } from "./custom-models.ts";
import type { KnownModels } from "./custom-schema.ts";

/**
 * What the models.json that was read last says, for as long as the file stays as it is: the sessions of a host
 * have the same one. They know the same catalogue.
 */
export class KeptModels {
  #last: { readonly key: string; readonly models: Promise<CustomModels> } | undefined;

  /** As {@link loadCustomModels}. */
  load(agentDirectory: string, known: KnownModels): Promise<CustomModels> {
    const found = statOf(join(agentDirectory, "models.json"));
    if (found === undefined || isRecent(found)) return loadCustomModels(agentDirectory, known);
    const key = [agentDirectory, stampOf(found), known.apis].join("\n");
    if (this.#last?.key !== key) {
      this.#last = { key, models: loadCustomModels(agentDirectory, known) };
    }
    return this.#last.models;
  }
}
