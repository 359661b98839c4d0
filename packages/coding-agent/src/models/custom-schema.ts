import * as z from "zod/mini";

// Loaded only when a models.json is there.

const headers = z.record(z.string(), z.string());
const compat = z.record(z.string(), z.unknown());
const size = z.number().check(z.positive());
const rate = z.number().check(z.nonnegative());
const rates = { input: rate, output: rate, cacheRead: rate, cacheWrite: rate };
const tier = z.object({ inputTokensAbove: z.number(), ...rates });

const shape = {
  name: z.optional(z.string()),
  api: z.optional(z.string()),
  baseUrl: z.optional(z.string()),
  reasoning: z.optional(z.boolean()),
  input: z.optional(z.array(z.enum(["text", "image"]))),
  cost: z.optional(z.extend(z.partial(z.object(rates)), { tiers: z.optional(z.array(tier)) })),
  contextWindow: z.optional(size),
  maxTokens: z.optional(size),
  headers: z.optional(headers),
  compat: z.optional(compat),
  thinkingLevelMap: z.optional(z.record(z.string(), z.nullable(z.string()))),
};

const ModelEntry = z.looseObject({ id: z.string().check(z.minLength(1)), ...shape });
export type ModelEntry = z.infer<typeof ModelEntry>;

const ModelOverride = z.looseObject(shape);
export type ModelOverride = z.infer<typeof ModelOverride>;

const ProviderEntry = z.looseObject({
  name: z.optional(z.string()),
  baseUrl: z.optional(z.string()),
  apiKey: z.optional(z.string()),
  api: z.optional(z.string()),
  headers: z.optional(headers),
  authHeader: z.optional(z.boolean()),
  compat: z.optional(compat),
  models: z.optional(z.array(ModelEntry)),
  modelOverrides: z.optional(z.record(z.string(), ModelOverride)),
});
export type ProviderEntry = z.infer<typeof ProviderEntry>;

const ModelsFile = z.looseObject({
  providers: z.optional(z.record(z.string(), ProviderEntry)),
});

/** Checks a models.json; a problem names the path of the field, such as `providers.x.models[0].id`. */
export function parseModelsFile(
  value: unknown,
): { providers: Readonly<Record<string, ProviderEntry>> } | { problem: string } {
  const result = z.safeParse(ModelsFile, value);
  if (result.success) return checkProviders(result.data.providers ?? {});
  const [issue] = result.error.issues;
  return { problem: `${fieldPath(issue?.path ?? [])}: ${issue?.message ?? "Invalid input"}` };
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

/** What the shape alone cannot say: where models are reached and how they are spoken to. */
function checkProviders(
  providers: Readonly<Record<string, ProviderEntry>>,
): { providers: Readonly<Record<string, ProviderEntry>> } | { problem: string } {
  for (const [id, { models = [], baseUrl, api }] of Object.entries(providers)) {
    for (const [index, model] of models.entries()) {
      const field = `providers.${id}.models[${index}]`;
      if ((model.baseUrl ?? baseUrl) === undefined) {
        return { problem: `${field}.baseUrl: a model needs a baseUrl, its own or its provider's` };
      }
      if ((model.api ?? api) === undefined) {
        return { problem: `${field}.api: a model needs an api, its own or its provider's` };
      }
    }
  }
  return { providers };
}
