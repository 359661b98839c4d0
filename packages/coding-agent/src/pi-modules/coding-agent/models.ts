import { createStream } from "@tau-agent/ai";
import { builtInCatalog, createModelRegistry } from "@tau-agent/models";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { isThinkingLevel } from "@tau-agent/rpc-protocol/plain";
import { createGlob, ProcessRegistry } from "@tau-agent/system";
import type { ExtensionModels } from "../../extensions/api/models.ts";
import { ModelsView } from "../../extensions/providers/extension-models.ts";
import {
  type RegisteredProvider,
  registeredProviderOf,
  withProviderStreams,
} from "../../extensions/providers/provider-config.ts";
import type { HostPlaces } from "../base/host-places.ts";

/** Anything that lists models: a context's registry, or a runtime created here. */
type Models = Pick<ExtensionModels, "getAll">;

interface Named {
  readonly model?: Model;
  readonly thinkingLevel?: ThinkingLevel;
  readonly warning?: string;
  readonly error?: string;
}

/** Models and keys outside of any session, and the parsing of model names. */
export function piModels(places: HostPlaces): object {
  return {
    ModelRuntime: { create: () => createRuntime(places) },
    resolveCliModel: ({ cliModel, cliProvider, ...given }: CliModel): Named => {
      if (cliModel === undefined) return {};
      const models = given.modelRuntime ?? given.modelRegistry;
      const wanted = cliProvider === undefined ? cliModel : `${cliProvider}/${cliModel}`;
      const found = models && named(models.getAll(), wanted);
      return found ?? { error: `Model "${wanted}" not found` };
    },
    resolveModelScopeWithDiagnostics: async (patterns: readonly string[], models: Models) => {
      const found = patterns.map((pattern) => ({
        pattern,
        all: matching(models.getAll(), pattern),
      }));
      const none = found.filter(({ all }) => all.length === 0);
      return {
        scopedModels: found.flatMap(({ all }) => all),
        diagnostics: none.map(({ pattern }) => ({
          type: "warning",
          message: `No models match pattern "${pattern}"`,
          pattern,
        })),
      };
    },
  };
}

interface CliModel {
  readonly cliModel?: string | undefined;
  readonly cliProvider?: string | undefined;
  readonly modelRuntime?: Models | undefined;
  readonly modelRegistry?: Models | undefined;
}

/** A model by `provider/id` or by id, optionally followed by `:level`. */
function named(models: readonly Model[], wanted: string): Named | undefined {
  const exact = models.find(({ provider, id }) => wanted === `${provider}/${id}` || wanted === id);
  if (exact !== undefined) return { model: exact };
  const colon = wanted.lastIndexOf(":");
  const level = wanted.slice(colon + 1);
  if (colon > 0 && isThinkingLevel(level)) {
    const found = named(models, wanted.slice(0, colon));
    return found && { ...found, thinkingLevel: level };
  }
  const part = wanted.toLowerCase();
  const model = models.find(({ provider, id }) => `${provider}/${id}`.toLowerCase().includes(part));
  return model && { model };
}

function matching(models: readonly Model[], pattern: string): readonly Named[] {
  if (!/[*?[]/.test(pattern)) {
    const found = named(models, pattern);
    return found === undefined ? [] : [found];
  }
  const fits = createGlob(pattern);
  return models
    .filter(({ provider, id }) => fits(`${provider}/${id}`) || fits(id))
    .map((model) => ({ model }));
}

/** The user's current models and keys; providers may be added. */
async function createRuntime({ agentDirectory, environment }: HostPlaces): Promise<object> {
  const registry = createModelRegistry({
    agentDirectory,
    environment,
    catalog: builtInCatalog(),
    processes: new ProcessRegistry({ systemRoot: environment.SystemRoot }),
  });
  const registered = new Map<string, RegisteredProvider>();
  const streamOf = (name: string) => {
    const provider = registered.get(name);
    return provider && registeredProviderOf(name, provider, environment).stream;
  };
  const view = new ModelsView({
    registry,
    registered,
    stream: withProviderStreams(createStream(), streamOf),
    registerProvider: (name, provider) => {
      registry.addProvider(registeredProviderOf(name, provider, environment).provider);
      registered.set(name, provider);
      void view.refresh().catch(() => {});
    },
    unregisterProvider: (name) => {
      if (registered.delete(name)) registry.removeProvider(name);
    },
  });
  await view.refresh();
  return withRuntimeMembers(view);
}

/** Adds the names of pi's newer API for the same members. */
function withRuntimeMembers(view: ModelsView): object {
  const ofProvider = (provider: string | undefined, models: Model[]) =>
    provider === undefined ? models : models.filter((model) => model.provider === provider);
  return Object.assign(view, {
    getModels: (provider?: string) => ofProvider(provider, view.getAll()),
    getModel: (provider: string, id: string) => view.find(provider, id),
    getAvailableSnapshot: () => view.getAvailable(),
    completeSimple: (...given: Parameters<ModelsView["complete"]>) => view.complete(...given),
    registerNativeProvider: (...given: Parameters<ModelsView["registerProvider"]>) =>
      view.registerProvider(...given),
    getAuth: async (named: string | Model) =>
      view.getProviderAuth(typeof named === "string" ? named : named.provider),
  });
}
