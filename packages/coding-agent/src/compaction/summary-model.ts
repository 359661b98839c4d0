import type { ModelRegistry } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";

interface SummaryModelSources {
  readonly settings: Pick<SettingsStore, "get">;
  readonly registry: Pick<ModelRegistry, "find" | "isAvailable">;
  /** Receives why the model of the settings is not used. */
  readonly note: (diagnostic: Diagnostic) => void;
}

/**
 * The model of `compaction.model`; undefined for the session's own. A mistake in the settings must not
 * keep a conversation from being compacted, so it is noted, and the session's model does the work.
 */
export async function summaryModel({
  settings,
  registry,
  note,
}: SummaryModelSources): Promise<Model | undefined> {
  const name = settings.get("compaction.model");
  if (name === undefined) return undefined;
  const [provider = "", ...id] = name.split("/");
  const model = await registry.find(provider, id.join("/"));
  if (model !== undefined && (await registry.isAvailable(model))) return model;
  const problem =
    model === undefined ? "no such model; name one as provider/id" : `no key for ${provider}`;
  note({
    severity: "warning",
    message: `compaction.model "${name}": ${problem}. The session's model writes the summaries.`,
  });
  return undefined;
}
