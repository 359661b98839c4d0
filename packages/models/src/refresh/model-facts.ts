import type { Model } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { commonStart } from "@tau-agent/system";

/** A source's facts about one model; none of them decides where a request goes. */
export interface ModelFacts {
  readonly id: string;
  readonly name?: string | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly input?: Model["input"] | undefined;
  readonly cost?: Model["cost"] | undefined;
}

/** More models than any provider has. */
const maxModels = 2000;

/** The plausible facts in a list; others are left out. */
export function believable(list: readonly unknown[]): ModelFacts[] {
  const found = new Map<string, ModelFacts>();
  for (const entry of list.slice(0, maxModels)) {
    const { id, name, contextWindow, maxTokens, input, cost } = membersOf(entry);
    if (typeof id !== "string" || !/^[\w~@][\w.:/@~+-]{0,199}$/.test(id)) continue;
    found.set(id, {
      id,
      ...(typeof name === "string" && isPlain(name) && { name }),
      ...(isSize(contextWindow) && { contextWindow }),
      ...(isSize(maxTokens) && { maxTokens }),
      ...(isInput(input) && { input }),
      ...(isCost(cost) && { cost }),
    });
  }
  return [...found.values()];
}

/** An object's members; none for anything else. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function isPlain(text: string): boolean {
  return text.length <= 200 && !/\p{Cc}/u.test(text);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= 1_000_000_000;
}

function isInput(value: unknown): value is Model["input"] {
  const kinds: readonly unknown[] = ["text", "image"];
  return (
    Array.isArray(value) && value.includes("text") && value.every((kind) => kinds.includes(kind))
  );
}

/** US dollars per million tokens; no model costs as much as a thousand. */
function isCost(value: unknown): value is Model["cost"] {
  const rates = membersOf(value);
  return ["input", "output", "cacheRead", "cacheWrite"].every((name) => {
    const rate = rates[name];
    return typeof rate === "number" && rate >= 0 && rate < 1000;
  });
}

/**
 * The catalogue's models with newer facts. A model that is not in the catalogue is reached like the one
 * with the most similar name.
 */
export function withFacts(
  models: readonly Model[],
  facts: readonly ModelFacts[],
): readonly Model[] {
  if (models.length === 0 || facts.length === 0) return models;
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const known = models.map((model) => {
    const fact = byId.get(model.id);
    byId.delete(model.id);
    return fact === undefined ? model : updated(model, fact);
  });
  return [...known, ...[...byId.values()].map((fact) => added(models, fact))];
}

function updated(model: Model, { cost, contextWindow, maxTokens }: ModelFacts): Model {
  const window = contextWindow ?? model.contextWindow;
  const tiers = model.cost.tiers === undefined ? {} : { tiers: model.cost.tiers };
  return {
    ...model,
    contextWindow: window,
    maxTokens: Math.min(maxTokens ?? model.maxTokens, window),
    cost: cost === undefined ? model.cost : { ...ratesOf(cost), ...tiers },
  };
}

function added(models: readonly Model[], fact: ModelFacts): Model {
  const like = models.reduce((best, model) =>
    commonStart(model.id, fact.id) > commonStart(best.id, fact.id) ? model : best,
  );
  const { cost: _, ...rest } = like;
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const { id, name = fact.id, input = like.input } = fact;
  return updated({ ...rest, id, name, input, cost: free }, fact);
}

function ratesOf({ input, output, cacheRead, cacheWrite }: Model["cost"]): Model["cost"] {
  return { input, output, cacheRead, cacheWrite };
}
