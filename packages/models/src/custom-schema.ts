import type { Model } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, nearest, nearestHint } from "@tau-agent/rpc-protocol/plain";
import type { LoginOverrides } from "./logins/login-definition.ts";

// Written by hand: otherwise the host would load the schema library before its first answer, only for this file.

/** The members that a model may have in models.json, and that an override may change. */
export interface ModelOverride {
  readonly name?: string;
  readonly api?: string;
  readonly baseUrl?: string;
  readonly reasoning?: boolean;
  readonly input?: Model["input"];
  readonly cost?: Partial<Model["cost"]>;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  /** Null suppresses a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly compat?: Readonly<Record<string, unknown>>;
  readonly thinkingLevelMap?: Readonly<Record<string, string | null>>;
}

/** A model in models.json; a provider that is not built in must say how to reach it. */
export interface ModelEntry extends ModelOverride {
  readonly id: string;
}

/** A provider in models.json: its own models, or changes to a built-in provider. */
export interface ProviderEntry {
  readonly name?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly api?: string;
  /** Null suppresses a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly authHeader?: boolean;
  /** Differences from the built-in login for this provider. */
  readonly login?: LoginOverrides;
  readonly compat?: Readonly<Record<string, unknown>>;
  readonly models?: readonly ModelEntry[];
  readonly modelOverrides?: Readonly<Record<string, ModelOverride>>;
}

/** The problem with the value at `path`, or `undefined`. */
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

/** An object whose known members are valid; unknown members are allowed for later versions. */
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

const cost = { ...rates, tiers: listOf(tier) };
const override = {
  name: text,
  api: word,
  baseUrl: word,
  reasoning: flag,
  input: listOf(is('"text" or "image"', (value) => value === "text" || value === "image")),
  cost: shape(cost),
  contextWindow: size,
  maxTokens: size,
  headers: recordOf(textOrNull),
  compat: recordOf(anything),
  thinkingLevelMap: recordOf(textOrNull),
};
const model = { id: word, ...override };
const checkModel = shape(model, ["id"]);
const checkOverride = shape(override);
/** The members of a provider other than its models. */
const provider = {
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
};
const checkProvider = shape(provider);

interface Problem {
  /** The part that is left out; undefined for a member without effect. */
  readonly subject?: string;
  /** Whether nothing in the file can be used. */
  readonly isOfAll?: true;
  /** The path of the invalid field, such as `providers.x.models[0].id`, and the expected value. */
  readonly reason: string;
}

/** The usable parts of a models.json, and the reasons for the rest. */
export interface ModelsFile {
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly problems: readonly Problem[];
  /** Unknown members. */
  readonly ignored: readonly Problem[];
}

/** What exists besides the file. */
export interface KnownModels {
  /** Whether the catalogue has the provider, whose models can then be reached in the same way. */
  readonly isBuiltIn?: ((provider: string) => boolean) | undefined;
  /** The available wire formats; undefined if requests may go elsewhere. */
  readonly apis?: readonly string[] | undefined;
}

/**
 * Reads a models.json. An invalid model, override or provider is left out on its own and does not affect the others.
 */
export function parseModelsFile(
  file: Readonly<Record<string, unknown>>,
  known: KnownModels = {},
): ModelsFile {
  const { providers } = file;
  if (!isJsonObject(providers)) {
    const reason =
      providers === undefined
        ? `providers: is missing${misspeltHint("providers", Object.keys(file))}; write the providers as {"providers": {"<id>": {…}}}`
        : "providers: must be an object";
    return { providers: {}, problems: [{ subject: "all", isOfAll: true, reason }], ignored: [] };
  }
  const reader = new Reader(known);
  reader.noteUnknown(file, { providers: anything }, "");
  const usable = Object.entries(providers).flatMap(([id, value]) => {
    const entry = reader.provider(id, value);
    return entry === undefined ? [] : [[id, entry] as const];
  });
  const { problems, ignored } = reader;
  return { providers: Object.fromEntries(usable), problems, ignored };
}

/** Reads the providers of one file, and collects the problems. */
class Reader {
  readonly problems: Problem[] = [];
  readonly ignored: Problem[] = [];
  readonly #known: KnownModels;

  constructor(known: KnownModels) {
    this.#known = known;
  }

  /** The provider without invalid models and overrides; undefined if it is invalid itself. */
  provider(id: string, value: unknown): ProviderEntry | undefined {
    const path = `providers.${id}`;
    const reason = checkProvider(value, path) ?? this.#foreignApi(value, path);
    if (!this.#fits(`provider "${id}"`, reason)) return undefined;
    this.noteUnknown(value, provider, path);
    const { models, modelOverrides, ...rest } = value as ProviderEntry;
    const isBuiltIn = this.#known.isBuiltIn?.(id) === true;
    const listed = models?.filter((entry, index) => {
      const place = `${path}.models[${index}]`;
      const problem =
        checkModel(entry, place) ??
        this.#foreignApi(entry, place) ??
        (isBuiltIn ? undefined : missingAddress(entry, value as ProviderEntry, place));
      if (!this.#fits(nameOf(entry, id) ?? place, problem)) return false;
      this.noteUnknown(entry, model, place);
      return true;
    });
    const overrides = Object.entries(modelOverrides ?? {}).filter(([name, entry]) => {
      const place = `${path}.modelOverrides.${name}`;
      if (!this.#fits(place, checkOverride(entry, place) ?? this.#foreignApi(entry, place))) {
        return false;
      }
      this.noteUnknown(entry, override, place);
      return true;
    });
    return {
      ...rest,
      ...(listed && { models: listed }),
      ...(modelOverrides && { modelOverrides: Object.fromEntries(overrides) }),
    };
  }

  #fits(subject: string, reason: string | undefined): boolean {
    if (reason !== undefined) this.problems.push({ subject, reason });
    return reason === undefined;
  }

  #foreignApi(entry: unknown, path: string): string | undefined {
    const { apis } = this.#known;
    const api = isJsonObject(entry) ? entry.api : undefined;
    if (apis === undefined || typeof api !== "string" || apis.includes(api)) return undefined;
    const near = nearest(api, apis) ?? apis.find((name) => name.startsWith(`${api}-`));
    const hint = near === undefined ? `it is one of ${apis.join(", ")}` : `did you mean ${near}?`;
    return `${path}.api: Tau does not speak ${api}; ${hint}`;
  }

  /** Reports unknown members only: they may be of a later version or of another host. */
  noteUnknown(entry: unknown, members: Readonly<Record<string, Check>>, path: string): void {
    if (!isJsonObject(entry)) return;
    for (const name of Object.keys(entry)) {
      // Such names are used for comments and by editors.
      if (Object.hasOwn(members, name) || /^(?:\$|_|\/\/)/.test(name)) continue;
      const hint = nearestHint(name, Object.keys(members));
      const place = path === "" ? name : `${path}.${name}`;
      this.ignored.push({ reason: `${place}: there is no such member${hint}` });
    }
    if (members.cost !== undefined) this.noteUnknown(entry.cost, cost, `${path}.cost`);
  }
}

function nameOf(entry: unknown, provider: string): string | undefined {
  const id = isJsonObject(entry) ? entry.id : undefined;
  return typeof id === "string" && id !== "" ? `model "${provider}/${id}"` : undefined;
}

/** A hint about a misspelt name found in place of `wanted`. */
function misspeltHint(wanted: string, names: readonly string[]): string {
  const found = names.find((name) => name !== wanted && nearest(name, [wanted]) !== undefined);
  return found === undefined ? "" : `; ${found} is misspelt, write ${wanted}`;
}

function missingAddress(
  entry: ModelEntry,
  parent: ProviderEntry,
  path: string,
): string | undefined {
  const name = (["baseUrl", "api"] as const).find(
    (key) => (entry[key] ?? parent[key]) === undefined,
  );
  if (name === undefined) return undefined;
  const hint = misspeltHint(name, [...Object.keys(entry), ...Object.keys(parent)]);
  const article = name === "api" ? "an" : "a";
  return `${path}.${name}: a model needs ${article} ${name}, its own or its provider's${hint}`;
}
