import { access } from "node:fs/promises";
import type { Credential, CustomProvider, FoundAuth, OAuthCredential } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ExtensionError } from "../api/errors.ts";
import type { NativeProvider, NativeProviderAuth } from "../api/native-provider.ts";

/** The limit for listing models over the network, which delays the start of a session. */
const refreshLimitMs = 5_000;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Adapts a native provider of an extension, which lists its models, finds its keys and renews its logins itself.
 *
 * @throws {ExtensionError} `invalid_registration`, naming the missing member
 */
export function nativeProviderOf(provider: NativeProvider, environment: Variables): CustomProvider {
  const refuse = (reason: string): never => {
    throw new ExtensionError("invalid_registration", `registerProvider: ${reason}`);
  };
  if (typeof provider?.id !== "string" || provider.id === "") refuse("the provider has no id");
  if (typeof provider.getModels !== "function") refuse(`${provider.id} has no getModels function`);
  if (typeof provider.streamSimple !== "function") refuse(`${provider.id} streams nothing`);
  const { auth = {} } = provider;
  const input = (credential: Credential | undefined) => ({
    ctx: {
      env: async (name: string) => environment[name],
      fileExists: (path: string) =>
        access(path).then(
          () => true,
          () => false,
        ),
    },
    ...(credential?.type === "api_key" && { credential }),
    signal: AbortSignal.timeout(refreshLimitMs),
  });
  const findAuth = async (stored: Credential | undefined): Promise<FoundAuth | undefined> => {
    if (stored?.type === "oauth" && auth.oauth !== undefined) return auth.oauth.toAuth(stored);
    const found = await auth.apiKey?.resolve(input(stored));
    return found?.auth;
  };
  return {
    id: provider.id,
    usesAuthHeader: false,
    models: () => modelsOf(provider, undefined),
    loadModels: async (credential) => {
      await refresh(provider, credential);
      return modelsOf(provider, credential);
    },
    headers: () => textsOf(provider.headers),
    findAuth,
    hasAuth: async (stored) => {
      if (stored?.type === "oauth" && auth.oauth !== undefined) return true;
      const search =
        auth.apiKey?.check?.bind(auth.apiKey) ?? auth.apiKey?.resolve.bind(auth.apiKey);
      return (await search?.(input(stored))) !== undefined;
    },
    ...(auth.oauth && withLogin(auth.oauth)),
  };
}

function withLogin(oauth: NonNullable<NativeProviderAuth["oauth"]>): Pick<CustomProvider, "login"> {
  return {
    login: {
      refresh: (credential, signal = new AbortController().signal) =>
        oauth.refresh(credential as OAuthCredential, signal),
      keyOf: ({ access }) => access,
    },
  };
}

/** Keeps the models that a provider lists itself if they cannot be refreshed in time. */
async function refresh(
  provider: NativeProvider,
  credential: Credential | undefined,
): Promise<void> {
  if (provider.refreshModels === undefined) return;
  const limit = AbortSignal.timeout(refreshLimitMs);
  const context = {
    ...(credential && { credential }),
    allowNetwork: true,
    signal: limit,
    publish: async ({ update }: { update?: () => void }) => {
      if (!limit.aborted) update?.();
      return !limit.aborted;
    },
  };
  const over = new Promise<void>((done) => limit.addEventListener("abort", () => done()));
  await Promise.race([provider.refreshModels(context), over]).catch(() => {});
}

function modelsOf(provider: NativeProvider, credential: Credential | undefined): Model[] {
  const all = provider.getModels();
  const models = provider.filterModels?.(all, credential) ?? all;
  return models.map(({ cost, ...model }) => ({
    ...model,
    name: model.name ?? model.id,
    api: model.api ?? "",
    provider: provider.id,
    baseUrl: model.baseUrl ?? provider.baseUrl ?? "",
    reasoning: model.reasoning ?? false,
    input: model.input ?? ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...cost },
    contextWindow: model.contextWindow ?? 128_000,
    maxTokens: model.maxTokens ?? 16_384,
  }));
}

function textsOf(headers: NativeProvider["headers"] = {}): Record<string, string> {
  const given = Object.entries(headers).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(given) as Record<string, string>;
}
