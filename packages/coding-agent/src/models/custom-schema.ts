import type { Model } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "../base/files/read-json.ts";
import type { LoginOverrides } from "./logins/login-definition.ts";

// Written by hand: for this one file, the host would load the schema library before its first
// answer.

/** The members a model may have in models.json, and an override may change. */
export interface ModelOverride {
  readonly name?: string;
  readonly api?: string;
  readonly baseUrl?: string;
  readonly reasoning?: boolean;
  readonly input?: Model["input"];
  readonly cost?: Partial<Model["cost"]>;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  /** Null suppresses a header that would be sent by default. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly compat?: Readonly<Record<string, unknown>>;
  readonly thinkingLevelMap?: Readonly<Record<string, string | null>>;
}

/** A model of models.json; only its id is required. */
export interface ModelEntry extends ModelOverride {
  readonly id: string;
}

/** A provider of models.json: models of its own, or changes to a built-in one. */
export interface ProviderEntry {
  readonly name?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly api?: string;
  /** Null suppresses a header that would be sent by default. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly authHeader?: boolean;
  /** What differs from the login that Tau knows for this provider. */
  readonly login?: LoginOverrides;
  readonly compat?: Readonly<Record<string, unknown>>;
  readonly models?: readonly ModelEntry[];
  readonly modelOverrides?: Readonly<Record<string, ModelOverride>>;
}

/** What is wrong with the value at `path`, or `undefined`. */
type Check = (value: unknown, path: string) => string | undefined;

function is(expected: string, accepts: (value: unknown) => boolean): Check {
  return (value, path) => (accepts(value) ? undefined : `${path}: must be ${expected}`);
}

/** The first problem among the members of an array or object. */
function firstProblem(members: Iterable<readonly [string, unknown]>, check: Check) {
  for (const [path, value] of members) {
    const problem = check(value, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function listOf(check: Check): Check {
  return (value, path) =>
    Array.isArray(value)
      ? firstProblem(
          value.map((member: unknown, index) => [`${path}[${index}]`, member] as const),
          check,
        )
      : `${path}: must be a list`;
}

function recordOf(check: Check): Check {
  return (value, path) =>
    isJsonObject(value)
      ? firstProblem(
          Object.entries(value).map(([name, member]) => [`${path}.${name}`, member] as const),
          check,
        )
      : `${path}: must be an object`;
}

/** An object whose known members fit; unknown members are allowed for later versions. */
function shape(members: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, path) => {
    if (!isJsonObject(value)) return `${path}: must be an object`;
    const missing = required.find((name) => value[name] === undefined);
    if (missing !== undefined) return `${path}.${missing}: is missing`;
    for (const [name, check] of Object.entries(members)) {
      const member = value[name];
      const problem = member === undefined ? undefined : check(member, `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

const text = is("a string", (value) => typeof value === "string");
const word = is("a non-empty string", (value) => typeof value === "string" && value !== "");
const flag = is("true or false", (value) => typeof value === "boolean");
const size = is("a number above 0", (value) => Number.isFinite(value) && Number(value) > 0);
const rate = is("a number of at least 0", (value) => Number.isFinite(value) && Number(value) >= 0);
const anything: Check = () => undefined;
const textOrNull = is("a string or null", (value) => value === null || typeof value === "string");
const rates = { input: rate, output: rate, cacheRead: rate, cacheWrite: rate };
const tier = shape({ inputTokensAbove: rate, ...rates }, [
  "inputTokensAbove",
  ...Object.keys(rates),
]);

const override = {
  name: text,
  api: word,
  baseUrl: word,
  reasoning: flag,
  input: listOf(is('"text" or "image"', (value) => value === "text" || value === "image")),
  cost: shape({ ...rates, tiers: listOf(tier) }),
  contextWindow: size,
  maxTokens: size,
  headers: recordOf(textOrNull),
  compat: recordOf(anything),
  thinkingLevelMap: recordOf(textOrNull),
};
const checkModel = shape({ id: word, ...override }, ["id"]);
const checkOverride = shape(override);
/** The members of a provider outside its models. */
const checkProvider = shape({
  name: text,
  baseUrl: word,
  apiKey: text,
  api: word,
  headers: recordOf(textOrNull),
  authHeader: flag,
  login: shape({ clientId: word, scope: text, domain: word, endpoints: recordOf(word) }),
  compat: recordOf(anything),
  models: listOf(anything),
  modelOverrides: recordOf(anything),
});

interface Problem {
  /** What is left out. */
  readonly subject: string;
  /** The path of the invalid field, such as `providers.x.models[0].id`, and what it must be. */
  readonly reason: string;
}

/** The usable parts of a models.json, and why the rest is not. */
export interface ModelsFile {
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly problems: readonly Problem[];
}

/**
 * Reads a models.json. An invalid model, override or provider is left out on its own and does not
 * affect the others.
 */
export function parseModelsFile(file: Readonly<Record<string, unknown>>): ModelsFile {
  const { providers } = file;
  if (!isJsonObject(providers)) {
    const reason =
      providers === undefined
        ? 'providers: is missing; write the providers as {"providers": {"<id>": {…}}}'
        : "providers: must be an object";
    return { providers: {}, problems: [{ subject: "all", reason }] };
  }
  const problems: Problem[] = [];
  const usable: [string, ProviderEntry][] = [];
  for (const [id, value] of Object.entries(providers)) {
    const path = `providers.${id}`;
    const reason = checkProvider(value, path);
    if (reason !== undefined) problems.push({ subject: `provider "${id}"`, reason });
    else usable.push([id, usableProvider(value as ProviderEntry, { id, path, problems })]);
  }
  return { providers: Object.fromEntries(usable), problems };
}

/** `entry` without the models and overrides that do not fit. */
function usableProvider(
  entry: ProviderEntry,
  { id, path, problems }: { id: string; path: string; problems: Problem[] },
): ProviderEntry {
  const { models, modelOverrides, ...rest } = entry;
  const fits = (subject: string, reason: string | undefined) => {
    if (reason !== undefined) problems.push({ subject, reason });
    return reason === undefined;
  };
  const listed = models?.filter((model, index) => {
    const place = `${path}.models[${index}]`;
    const reason = checkModel(model, place) ?? missingAddress(model, entry, place);
    return fits(nameOf(model, id) ?? place, reason);
  });
  const overrides = Object.entries(modelOverrides ?? {}).filter(([name, value]) => {
    const place = `${path}.modelOverrides.${name}`;
    return fits(place, checkOverride(value, place));
  });
  return {
    ...rest,
    ...(listed && { models: listed }),
    ...(modelOverrides && { modelOverrides: Object.fromEntries(overrides) }),
  };
}

/** A model by its id, where it has one. */
function nameOf(model: unknown, provider: string): string | undefined {
  const id = isJsonObject(model) ? model.id : undefined;
  return typeof id === "string" && id !== "" ? `model "${provider}/${id}"` : undefined;
}

function missingAddress(
  model: ModelEntry,
  parent: ProviderEntry,
  path: string,
): string | undefined {
  const name = (["baseUrl", "api"] as const).find(
    (key) => (model[key] ?? parent[key]) === undefined,
  );
  const article = name === "api" ? "an" : "a";
  return name && `${path}.${name}: a model needs ${article} ${name}, its own or its provider's`;
}
