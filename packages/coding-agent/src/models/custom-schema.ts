import type { Model } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "../files/read-json.ts";

// By hand instead of with the schema library: a host whose user has a models.json would load the
// library before it answers its first command, for this one file.

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
  readonly headers?: Readonly<Record<string, string>>;
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
  readonly headers?: Readonly<Record<string, string>>;
  readonly authHeader?: boolean;
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

/** An object whose known members fit; others are left to later versions. */
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
const word = is("a string that is not empty", (value) => typeof value === "string" && value !== "");
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
  headers: recordOf(text),
  compat: recordOf(anything),
  thinkingLevelMap: recordOf(textOrNull),
};
const provider = shape({
  name: text,
  baseUrl: word,
  apiKey: text,
  api: word,
  headers: recordOf(text),
  authHeader: flag,
  compat: recordOf(anything),
  models: listOf(shape({ id: word, ...override }, ["id"])),
  modelOverrides: recordOf(shape(override)),
});
const checkProviders = recordOf(provider);

/** Whether every provider fits; the message names the path of a field that does not. */
function areProviders(
  value: unknown,
  report: (problem: string) => void,
): value is Readonly<Record<string, ProviderEntry>> {
  const problem = checkProviders(value, "providers");
  if (problem !== undefined) report(problem);
  return problem === undefined;
}

/** Checks a models.json; a problem names the path of the field, such as `providers.x.models[0].id`. */
export function parseModelsFile(
  file: Readonly<Record<string, unknown>>,
): { providers: Readonly<Record<string, ProviderEntry>> } | { problem: string } {
  const providers = file.providers ?? {};
  let problem = "";
  const report = (found: string) => {
    problem = found;
  };
  if (!areProviders(providers, report)) return { problem };
  for (const [id, { models = [], baseUrl, api }] of Object.entries(providers)) {
    for (const [index, model] of models.entries()) {
      const path = `providers.${id}.models[${index}]`;
      if ((model.baseUrl ?? baseUrl) === undefined) {
        return { problem: `${path}.baseUrl: a model needs a baseUrl, its own or its provider's` };
      }
      if ((model.api ?? api) === undefined) {
        return { problem: `${path}.api: a model needs an api, its own or its provider's` };
      }
    }
  }
  return { providers };
}
