import { type Answer, type Ask, asAnswer } from "./read-json.ts";

/** A kind of server for models on the user's own machine. */
export type ServerKind = "ollama" | "lm-studio" | "llama.cpp" | "vllm";

export const serverNames: Readonly<Record<ServerKind, string>> = {
  ollama: "Ollama",
  "lm-studio": "LM Studio",
  "llama.cpp": "llama.cpp",
  vllm: "vLLM",
};

interface LocalModel {
  readonly id: string;
  /** The window that the server reports; undefined if it does not. */
  readonly contextWindow: number | undefined;
  readonly takesImages: boolean;
  readonly isLoaded: boolean;
}

export interface ServerAnswer {
  /** Undefined if it lists models as OpenAI does, but nothing else is known about it. */
  readonly kind: ServerKind | undefined;
  readonly models: readonly LocalModel[];
}

/** Asking each model of a larger collection takes too long. */
const maxModels = 100;

/**
 * The window used if neither the server nor the model's settings name one; the model's own may be
 * larger than memory allows.
 */
const mostUnknownWindow = 32_768;

/** Asks a server what it is; undefined if it lists no models. */
export async function identify(ask: Ask): Promise<ServerAnswer | undefined> {
  const [listed, detailed, tags] = await Promise.all([
    ask("/v1/models"),
    ask("/api/v0/models"),
    ask("/api/tags"),
  ]);
  const served = listOf(listed?.data);
  const owners = new Set(served.map(({ owned_by }) => owned_by));
  // llama.cpp also answers like Ollama.
  if (owners.has("llamacpp")) return { kind: "llama.cpp", models: await ofLlamaCpp(served, ask) };
  if (owners.has("vllm")) return { kind: "vllm", models: asListed(served) };
  const described = listOf(detailed?.data);
  if (described.some(({ type }) => /^(?:llm|vlm|embeddings)$/.test(String(type)))) {
    return { kind: "lm-studio", models: ofLmStudio(described) };
  }
  if (Array.isArray(tags?.models)) {
    return { kind: "ollama", models: await ofOllama(listOf(tags.models), ask) };
  }
  return served.length === 0 ? undefined : { kind: undefined, models: asListed(served) };
}

async function ofLlamaCpp(served: readonly Answer[], ask: Ask): Promise<LocalModel[]> {
  const props = await ask("/props");
  const settings = asAnswer(props?.default_generation_settings);
  const takesImages = asAnswer(props?.modalities)?.vision === true;
  return namesOf(served, "id").map((id) => {
    return { id, contextWindow: asSize(settings?.n_ctx), takesImages, isLoaded: true };
  });
}

function asListed(served: readonly Answer[]): LocalModel[] {
  return served.flatMap((model) =>
    namesOf([model], "id").map((id) => {
      const contextWindow = asSize(model.max_model_len);
      return { id, contextWindow, takesImages: false, isLoaded: true };
    }),
  );
}

function ofLmStudio(described: readonly Answer[]): LocalModel[] {
  return described
    .filter(({ type }) => type === "llm" || type === "vlm")
    .flatMap((model) =>
      namesOf([model], "id").map((id) => ({
        id,
        contextWindow: asSize(model.loaded_context_length) ?? asSize(model.max_context_length),
        takesImages: model.type === "vlm",
        isLoaded: model.state === "loaded",
      })),
    );
}

async function ofOllama(tags: readonly Answer[], ask: Ask): Promise<LocalModel[]> {
  const running = listOf((await ask("/api/ps"))?.models);
  const loaded = new Map(running.map((model) => [model.name, asSize(model.context_length)]));
  const names = namesOf(tags, "name").slice(0, maxModels);
  const models = await Promise.all(
    names.map(async (id) => {
      const shown = await ask("/api/show", { model: id });
      const capabilities = Array.isArray(shown?.capabilities) ? shown.capabilities : undefined;
      if (capabilities !== undefined && !capabilities.includes("completion")) return undefined;
      const contextWindow = loaded.get(id) ?? windowOf(shown);
      const takesImages = capabilities?.includes("vision") === true;
      return { id, contextWindow, takesImages, isLoaded: loaded.has(id) };
    }),
  );
  return models.filter((model) => model !== undefined);
}

/** The context window with which Ollama loads a model: `num_ctx` from its settings, or the model's own. */
function windowOf(shown: Answer | undefined): number | undefined {
  const [, set] = /^\s*num_ctx\s+(\d+)/m.exec(String(shown?.parameters ?? "")) ?? [];
  if (set !== undefined) return asSize(Number(set));
  const facts = Object.entries(asAnswer(shown?.model_info) ?? {});
  const own = asSize(facts.find(([name]) => name.endsWith(".context_length"))?.[1]);
  return own === undefined ? undefined : Math.min(own, mostUnknownWindow);
}

function listOf(value: unknown): readonly Answer[] {
  if (!Array.isArray(value)) return [];
  return value.map(asAnswer).filter((entry) => entry !== undefined);
}

/** The names in a list, without models for embeddings. */
function namesOf(list: readonly Answer[], member: "id" | "name"): string[] {
  return list
    .map((entry) => entry[member])
    .filter((name): name is string => typeof name === "string" && name !== "")
    .filter((name) => !/embed/i.test(name));
}

function asSize(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
