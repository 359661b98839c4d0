export { AnsweringModel, type Fallback } from "./answering-model.ts";
export { KeptCredentials } from "./auth/kept-credentials.ts";
export type { FoundAuth, KeySource, ResolvedKey } from "./auth/key-types.ts";
export { createCommandRunner } from "./auth/run-command.ts";
export type { Credential, OAuthCredential } from "./auth/store.ts";
export { AuthStore } from "./auth/store.ts";
export { builtInCatalog } from "./catalog.ts";
export { createModelRegistry } from "./create-model-registry.ts";
export type { CustomProvider } from "./custom-models.ts";
export { createCustomProvider, isLocalUrl } from "./custom-models.ts";
export type { ModelEntry, ModelOverride, ProviderEntry } from "./custom-schema.ts";
export { parseModelsFile } from "./custom-schema.ts";
export { resolveFallbacks } from "./fallback-models.ts";
export type { InitialModel, InitialModelInput } from "./initial-model.ts";
export { selectInitialModel } from "./initial-model.ts";
export { KeptModels } from "./kept-models.ts";
export type { ServerKind } from "./local/server-kinds.ts";
export type { FindOptions, FoundServer } from "./local-servers.ts";
export {
  /** For programs that embed the agent. @public */
  findLocalServers,
} from "./local-servers.ts";
export { listLoginProviders, providerHint } from "./login-providers.ts";
export type { LoginMethod, LoginPage } from "./logins/login-definition.ts";
export type { LoginRequest, Logins } from "./logins/logins.ts";
export { ModelSelection } from "./model-selection.ts";
export { correctedName, nearMatches } from "./near-matches.ts";
export { proxiedFetch, proxyFinder } from "./proxied-fetch.ts";
export type { RefreshedProvider, RefreshOptions } from "./refresh-models.ts";
export { refreshModels } from "./refresh-models.ts";
export { ModelRegistry } from "./registry.ts";
export type { ScopedModel } from "./resolver.ts";
export { resolveModel, resolveModelScope } from "./resolver.ts";
export { Retry } from "./retry.ts";
export { chooseThinkingLevel } from "./thinking-level.ts";
