import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { type InitialModel, selectInitialModel } from "../models/initial-model.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { resolveModelScope, type ScopedModel } from "../models/resolver.ts";
import { chooseThinkingLevel, isThinkingLevel } from "../models/thinking-level.ts";
import type { ResumedModel } from "../session-log/session-context.ts";
import type { SettingsStore } from "../settings/store.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

/** What the choice of a model depends on besides the options. */
export interface ModelChoice {
  readonly registry: ModelRegistry;
  readonly settings: SettingsStore;
  readonly scope: readonly ScopedModel[];
  readonly resumed: ResumedModel;
  readonly diagnostics: Diagnostics;
}

/** The models to cycle through; empty for all available ones. */
export async function resolveScope(
  registry: ModelRegistry,
  patterns: readonly string[] | undefined,
  diagnostics: Diagnostics,
): Promise<readonly ScopedModel[]> {
  if (patterns === undefined || patterns.length === 0) return [];
  const found = await resolveModelScope(registry, patterns);
  diagnostics.push(...found.diagnostics);
  return found.models;
}

/** The model a session starts with: the option's, the resumed session's, the saved or the first usable one. */
export async function chooseModel(
  { provider, model, apiKey }: CreateAgentSessionOptions,
  { registry, settings, scope, resumed, diagnostics }: ModelChoice,
): Promise<InitialModel> {
  if (typeof model === "object") {
    if (apiKey !== undefined) registry.keys.setRuntimeKey(model.provider, apiKey);
    return { model, source: "flag", diagnostics: [] };
  }
  if (apiKey !== undefined && provider !== undefined) registry.keys.setRuntimeKey(provider, apiKey);
  const chosen = await selectInitialModel({
    registry,
    flags: { provider, model },
    scope,
    saved: { provider: settings.get("defaultProvider"), model: settings.get("defaultModel") },
    resumed: resumed.model,
  });
  if (apiKey !== undefined && chosen.model !== undefined) {
    registry.keys.setRuntimeKey(chosen.model.provider, apiKey);
  }
  diagnostics.push(...chosen.diagnostics);
  return chosen;
}

/** The thinking level a session starts with. */
export function chooseLevel(
  options: CreateAgentSessionOptions,
  { settings, resumed: { thinkingLevel } }: Pick<ModelChoice, "settings" | "resumed">,
  chosen: InitialModel,
): ThinkingLevel {
  const isKnown = thinkingLevel !== undefined && isThinkingLevel(thinkingLevel);
  return chooseThinkingLevel(chosen.model, {
    flag: options.thinkingLevel,
    suffix: chosen.thinkingLevel,
    session: isKnown ? thinkingLevel : undefined,
    settings,
  });
}
