import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { Diagnostic } from "../base/diagnostic.ts";
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
  options: CreateAgentSessionOptions,
  choice: ModelChoice,
): Promise<InitialModel> {
  const { provider, model, apiKey } = options;
  const { registry, settings, scope, resumed, diagnostics } = choice;
  if (typeof model === "object") {
    if (apiKey !== undefined) registry.keys.setRuntimeKey(model.provider, apiKey);
    return { model, source: "flag", diagnostics: [] };
  }
  if (apiKey !== undefined && provider !== undefined) registry.keys.setRuntimeKey(provider, apiKey);
  const input = {
    registry,
    flags: { provider, model },
    scope,
    saved: { provider: settings.get("defaultProvider"), model: settings.get("defaultModel") },
    resumed: resumed.model,
  };
  const names = [provider, model, resumed.model?.provider, input.saved.provider];
  const hasAsked = await findNamedServers(options, choice, names);
  let chosen = await selectInitialModel(input);
  const isMissing = chosen.model === undefined;
  if (
    !hasAsked &&
    (options.findLocalServers === "always" || (options.findLocalServers && isMissing))
  ) {
    const found = await findServers(options, choice);
    if (isMissing && found.length > 0) {
      chosen = await selectInitialModel(input);
      diagnostics.push(...found);
    }
  }
  if (apiKey !== undefined && chosen.model !== undefined) {
    registry.keys.setRuntimeKey(chosen.model.provider, apiKey);
  }
  diagnostics.push(...chosen.diagnostics);
  return chosen;
}

/** Asks the local servers before the choice, where one is named. */
async function findNamedServers(
  options: CreateAgentSessionOptions,
  choice: ModelChoice,
  names: readonly (string | undefined)[],
): Promise<boolean> {
  if (!options.findLocalServers) return false;
  const isWanted = await namesUnknownServer(choice.registry, names);
  if (isWanted) await findServers(options, choice);
  return isWanted;
}

const serverName = /^(?:ollama|lm-studio|llama\.cpp|vllm)(?:-\d+)?(?:\/|$)/i;

/** Whether one of these names, such as `ollama/qwen3`, is of a local server that is not known. */
async function namesUnknownServer(
  registry: ModelRegistry,
  names: readonly (string | undefined)[],
): Promise<boolean> {
  const named = names.filter((name) => name !== undefined && serverName.test(name));
  if (named.length === 0) return false;
  const known = new Set(await registry.providers());
  return named.some((name) => !known.has(name?.split("/")[0]?.toLowerCase() ?? ""));
}

/** Loaded where servers are asked only: most starts ask none. */
async function findServers(
  { environment }: CreateAgentSessionOptions,
  { registry, settings }: ModelChoice,
): Promise<readonly Diagnostic[]> {
  const { addLocalServers } = await import("../models/add-local-servers.ts");
  return addLocalServers(registry, { addresses: settings.get("localServers"), environment });
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
