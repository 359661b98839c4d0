import type { ModelRegistry } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";

interface SummaryModelSources {
  readonly settings: Pick<SettingsStore, "get">;
  readonly registry: Pick<ModelRegistry, "find" | "isAvailable">;
  /** Receives the reason why the configured model is not used. */
  readonly note: (diagnostic: Diagnostic) => void;
}

/**
 * The model of `compaction.model`; undefined means the session's own. A mistake in the setting must not prevent
 * compaction, so it becomes a diagnostic, and the session's model writes the summary.
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
