import {
  chooseThinkingLevel,
  type FindOptions,
  type InitialModel,
  type InitialModelInput,
  type ModelRegistry,
  resolveModelScope,
  type ScopedModel,
  selectInitialModel,
} from "@tau-agent/models";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { isThinkingLevel, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { ResumedModel } from "@tau-agent/sessions/log";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import { fallbackNames } from "./choose-fallbacks.ts";
import type { SessionSetup } from "./session-options.ts";

export interface ModelChoice {
  readonly registry: ModelRegistry;
  readonly settings: SettingsStore;
  readonly scope: readonly ScopedModel[];
  readonly resumed: ResumedModel;
  readonly diagnostics: Diagnostic[];
}

/** The models to cycle through; empty for all available ones. */
export async function resolveScope(
  registry: ModelRegistry,
  patterns: readonly string[] | undefined,
  diagnostics: Diagnostic[],
): Promise<readonly ScopedModel[]> {
  if (patterns === undefined || patterns.length === 0) return [];
  const found = await resolveModelScope(registry, patterns);
  diagnostics.push(...found.diagnostics);
  return found.models;
}

/**
 * The model that a session starts with: that of the options, of the resumed session, of the settings, or the first
 * usable one.
 */
export async function chooseModel(
  options: SessionSetup,
  choice: ModelChoice,
): Promise<InitialModel> {
  const { provider, model, apiKey } = options;
  const { registry, diagnostics } = choice;
  if (typeof model === "object") {
    registry.requireModel(model);
    if (apiKey !== undefined) registry.keys.setRuntimeKey(model.provider, apiKey);
    return { model, source: "flag", diagnostics: [] };
  }
  if (apiKey !== undefined && provider !== undefined) registry.keys.setRuntimeKey(provider, apiKey);
  const chosen = await chooseAmongServers(options, choice, { provider, model });
  if (apiKey !== undefined && chosen.model !== undefined) {
    registry.keys.setRuntimeKey(chosen.model.provider, apiKey);
  }
  diagnostics.push(...chosen.diagnostics);
  return chosen;
}

/** Chooses a model later for a session that started without one: a server may have been started meanwhile. */
export function laterChoice(
  options: SessionSetup,
  choice: ModelChoice,
  note: (diagnostic: Diagnostic) => void,
): (() => Promise<Model | undefined>) | undefined {
  if (!options.findLocalServers) return undefined;
  return async () => {
    const diagnostics: Diagnostic[] = [];
    const { model } = await chooseModel(options, { ...choice, diagnostics });
    for (const diagnostic of diagnostics) note(diagnostic);
    return model;
  };
}

/**
 * Includes the servers on this machine if no model with a key was named. They are asked first if
 * one of their names is used.
 */
async function chooseAmongServers(
  options: SessionSetup,
  choice: ModelChoice,
  flags: NonNullable<InitialModelInput["flags"]>,
): Promise<InitialModel> {
  const { registry, settings, scope, resumed, diagnostics } = choice;
  const { apiKey, findLocalServers } = options;
  const servers = new LocalServers(options, choice);
  const saved = { provider: settings.get("defaultProvider"), model: settings.get("defaultModel") };
  const whyMissing = (name: string) => servers.whyMissing(name);
  const input = { registry, flags, scope, saved, resumed: resumed.model, whyMissing };
  const select = () => servers.blamed([flags.provider, flags.model], selectInitialModel(input));
  if (!findLocalServers) return select();
  const names = [flags.provider, flags.model, resumed.model?.provider, saved.provider, saved.model];
  names.push(...fallbackNames(options, settings));
  if (await servers.areNamed(names)) {
    await servers.ask();
    return select();
  }
  const first = await select().catch((error: unknown) => ({ error }));
  const isOpen = await isUndecided(first, { registry, apiKey, flags });
  if (isOpen || findLocalServers === "always") {
    const found = await servers.ask();
    if (!("error" in first) && first.model === undefined) diagnostics.push(...found);
    if (isOpen) return select();
  }
  if ("error" in first) throw first.error;
  return first;
}

interface Asked extends Pick<InitialModelInput, "registry" | "flags"> {
  readonly apiKey: string | undefined;
}

/** Whether no model with a key was found, so that a server may have the named one. */
async function isUndecided(
  choice: InitialModel | { readonly error: unknown },
  { registry, apiKey, flags = {} }: Asked,
): Promise<boolean> {
  if ("error" in choice) {
    return choice.error instanceof SessionError && choice.error.code === "model_not_found";
  }
  const { model } = choice;
  if (model === undefined) return true;
  const isOfProvider =
    flags.provider !== undefined || flags.model?.toLowerCase().startsWith(`${model.provider}/`);
  return apiKey === undefined && !isOfProvider && !(await registry.isAvailable(model));
}

const serverName = /^(?:ollama|lm-studio|llama\.cpp|vllm)(?:-\d+)?(?:\/|$)/i;

/** The model servers on this machine, as far as the choice of a model needs them. */
class LocalServers {
  readonly #registry: ModelRegistry;
  readonly #places: FindOptions;
  #describe: ((name: string) => string) | undefined;
  /** Configured addresses at which no server answers. */
  readonly #silent: string[] = [];

  constructor({ environment }: SessionSetup, { registry, settings }: ModelChoice) {
    this.#registry = registry;
    this.#places = { addresses: settings.get("localServers"), environment };
  }

  /** Whether one of these names, such as `ollama/qwen3`, belongs to a server that is not known yet. */
  async areNamed(names: readonly (string | undefined)[]): Promise<boolean> {
    const named = names.filter((name) => name !== undefined && serverName.test(name));
    if (named.length === 0) return false;
    const known = new Set(await this.#registry.providers());
    return named.some((name) => !known.has(name?.split("/")[0]?.toLowerCase() ?? ""));
  }

  /** Asks the servers. The code is loaded here, because most starts ask none. */
  async ask(): Promise<readonly Diagnostic[]> {
    const { addLocalServers, describeSilent } = await import("@tau-agent/models/add-local-servers");
    const { addresses } = this.#places;
    const onSilent = (origin: string) => void (addresses && this.#silent.push(origin));
    const found = await addLocalServers(this.#registry, { ...this.#places, onSilent });
    const known = new Set((await this.#registry.providers()).map((id) => id.toLowerCase()));
    this.#describe = (name) =>
      known.has(name.split("/")[0]?.toLowerCase() ?? "") ? "" : describeSilent(name, this.#places);
    return found;
  }

  /** Why a server's model is missing; undefined if no server is involved. */
  whyMissing(name: string): string | undefined {
    return serverName.test(name) ? this.#describe?.(name) || undefined : undefined;
  }

  /** A model without a provider may belong to a configured server that is down. */
  #whySilent(name: string): string | undefined {
    if (name.includes("/") || this.#silent.length === 0) return undefined;
    return `no provider has it, and no model server answers at ${this.#silent.join(", ")}`;
  }

  /** Awaits a choice; if it fails because a server is down, the error says so. */
  async blamed<Result>(
    names: readonly (string | undefined)[],
    choice: Promise<Result>,
  ): Promise<Result> {
    return choice.catch((error: unknown) => {
      const name = names.filter((part) => part !== undefined).join("/");
      if (!(error instanceof SessionError)) throw error;
      const reason = this.whyMissing(name) ?? this.#whySilent(name);
      if (reason === undefined) throw error;
      throw new SessionError("model_not_found", { model: `${name}; ${reason}` }, { cause: error });
    });
  }
}

export function chooseLevel(
  options: SessionSetup,
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
