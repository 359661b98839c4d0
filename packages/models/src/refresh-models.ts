import type { Model } from "@tau-agent/rpc-protocol/messages";
import { writeFacts } from "./refresh/fact-files.ts";
import { getJson } from "./refresh/get-json.ts";
import type { ModelFacts } from "./refresh/model-facts.ts";
import { factsUrl, listUrl, ownFacts, publishedFacts } from "./refresh/sources.ts";
import type { ModelRegistry, RequestAuth } from "./registry.ts";

/** The inputs of a refresh. */
export interface RefreshOptions {
  readonly registry: ModelRegistry;
  readonly agentDirectory: string;
  /** Default: the providers of the catalogue that have a key. */
  readonly providers?: readonly string[] | undefined;
  /** The source of facts about all providers; default models.dev. */
  readonly from?: string | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly now: Date;
  /** The time limit for each answer, in ms; default 15 000. */
  readonly timeoutMs?: number | undefined;
}

/** What a refresh learned about one provider. */
export interface RefreshedProvider {
  readonly provider: string;
  /** The number of models with facts. */
  readonly models: number;
  /** Model ids that the catalogue does not have. */
  readonly added: readonly string[];
  /** Why a source was not used. */
  readonly problems: readonly string[];
}

/**
 * Reads newer facts about models from a public list and from the providers' own lists. If nothing is
 * learned about a provider, its earlier facts are kept.
 */
export async function refreshModels(options: RefreshOptions): Promise<RefreshedProvider[]> {
  const { registry, agentDirectory, from = factsUrl, now } = options;
  const published = await getJson(from, options).catch((error: Error) => error);
  const providers = options.providers ?? (await registry.refreshableProviders());
  return Promise.all(
    providers.map(async (provider) => {
      const builtIn = await registry.builtInModels(provider);
      const problems: string[] = [];
      const fromAll = published instanceof Error ? undefined : publishedFacts(published, provider);
      if (published instanceof Error) problems.push(`${from}: ${published.message}`);
      const own = await ownList(options, provider, builtIn, problems);
      const facts = await usable(registry, provider, merged(builtIn, fromAll, own));
      if (fromAll !== undefined || own !== undefined) {
        await writeFacts(agentDirectory, provider, {
          models: facts,
          refreshedAt: now.toISOString(),
        });
      }
      const known = new Set(builtIn.map(({ id }) => id));
      const added = facts.map(({ id }) => id).filter((id) => !known.has(id));
      return { provider, models: facts.length, added, problems };
    }),
  );
}

/** The public list has more facts about each model; the provider's own list decides which models exist. */
function merged(
  builtIn: readonly Model[],
  published: readonly ModelFacts[] = [],
  own: readonly ModelFacts[] | undefined,
): readonly ModelFacts[] {
  if (own === undefined) return published;
  const facts = new Map(published.map((fact) => [fact.id, fact]));
  const known = new Set(builtIn.map(({ id }) => id));
  const listed = own.map((fact) => ({ ...facts.get(fact.id), ...fact }));
  const ids = new Set(own.map(({ id }) => id));
  return [...listed, ...published.filter(({ id }) => known.has(id) && !ids.has(id))];
}

/** The smallest context window in which a session can work. */
const leastWindow = 20_000;

async function usable(
  registry: ModelRegistry,
  provider: string,
  facts: readonly ModelFacts[],
): Promise<ModelFacts[]> {
  const isUsable = async ({ id, contextWindow = leastWindow }: ModelFacts) =>
    contextWindow >= leastWindow && (await registry.whyNotOffered(provider, id)) === undefined;
  const checked = await Promise.all(
    facts.map(async (fact) => ((await isUsable(fact)) ? [fact] : [])),
  );
  return checked.flat();
}

async function ownList(
  options: RefreshOptions,
  provider: string,
  [model]: readonly Model[],
  problems: string[],
): Promise<ModelFacts[] | undefined> {
  if (model === undefined) return undefined;
  const url = listUrl(model);
  try {
    const auth = await options.registry.requestAuth(model);
    const { fetch = options.fetch } = auth;
    const answer = await getJson(url, { ...options, fetch, headers: headersOf(model, auth) });
    const facts = ownFacts(answer);
    if (facts === undefined) problems.push(`${url}: it is not a list of models`);
    return facts;
  } catch (error) {
    problems.push(`${provider}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Headers with the key in the place that the wire format requires. */
function headersOf({ api }: Model, { apiKey, headers }: RequestAuth): Record<string, string> {
  const key = apiKey ?? "";
  const own: Readonly<Record<string, string>> =
    apiKey === undefined
      ? {}
      : api === "google-generative-ai"
        ? { "x-goog-api-key": key }
        : api === "anthropic-messages"
          ? { "x-api-key": key, "anthropic-version": "2023-06-01" }
          : { authorization: `Bearer ${key}` };
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]],
  );
  return { ...own, ...Object.fromEntries(given) };
}
