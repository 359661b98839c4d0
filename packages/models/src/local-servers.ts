import type { Environment } from "@tau-agent/system";
import { type CustomProvider, createCustomProvider } from "./custom-models.ts";
import { localOrigins } from "./local/addresses.ts";
import { askAt, listens } from "./local/read-json.ts";
import { identify, type ServerAnswer, type ServerKind, serverNames } from "./local/server-kinds.ts";

/** A server that answered and has a model. */
export interface FoundServer {
  readonly kind: ServerKind;
  /** The kind's name. */
  readonly name: string;
  /** Such as `http://127.0.0.1:11434`. */
  readonly origin: string;
  /** The ids of its models, those in memory first. */
  readonly modelIds: readonly string[];
  /** For `ModelRegistry.addProvider`. */
  readonly provider: CustomProvider;
}

/** A server of an unknown kind that has a model. */
export interface UnknownServer {
  /** Such as `http://127.0.0.1:8000`. */
  readonly origin: string;
  readonly modelIds: readonly string[];
}

/** How to look for local servers. */
export interface FindOptions {
  /** The setting `localServers`: addresses; by default the usual ones. */
  readonly addresses?: readonly string[] | undefined;
  /** For `OLLAMA_HOST`. */
  readonly environment?: Environment | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** The time limit for all servers together, in ms; default 1500. */
  readonly timeoutMs?: number | undefined;
  /** Called for each server of an unknown kind that lists models as OpenAI does; it is left out. */
  readonly onUnknown?: ((server: UnknownServer) => void) | undefined;
  /** Called with each address at which nothing listens. */
  readonly onSilent?: ((origin: string) => void) | undefined;
}

/**
 * Asks the usual local addresses in parallel which models they have. Servers that do not answer in
 * time, or not as Ollama, LM Studio, llama.cpp or vLLM, are left out.
 */
export async function findLocalServers(options: FindOptions = {}): Promise<FoundServer[]> {
  const { addresses, environment = {}, fetch = globalThis.fetch, timeoutMs = 1500 } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  const origins = localOrigins(addresses, environment);
  const answers = await Promise.all(
    origins.map(async (origin) => {
      if (!(await listens(origin, signal))) {
        options.onSilent?.(origin);
        return undefined;
      }
      return identify(askAt(origin, { fetch, signal }));
    }),
  );
  const taken = new Set<string>();
  return origins.flatMap((origin, at) => {
    const answer = answers[at];
    if (answer === undefined || answer.models.length === 0) return [];
    const { kind, models } = answer;
    if (kind === undefined) {
      options.onUnknown?.({ origin, modelIds: models.map((model) => model.id) });
      return [];
    }
    // A second server of the same kind gets a name with its port.
    const id = taken.has(kind) ? `${kind}-${new URL(origin).port}` : kind;
    taken.add(id);
    return [describe(id, origin, { kind, models })];
  });
}

type KnownAnswer = ServerAnswer & { readonly kind: ServerKind };

function describe(id: string, origin: string, { kind, models }: KnownAnswer): FoundServer {
  const ordered = [...models].sort((one, other) => Number(other.isLoaded) - Number(one.isLoaded));
  const provider = createCustomProvider(id, {
    name: serverNames[kind],
    baseUrl: `${origin}/v1`,
    api: "openai-completions",
    // Features that these servers are known not to support.
    compat: {
      supportsStore: false,
      supportsDeveloperRole: false,
      supportsReasoningEffort: false,
      maxTokensField: "max_tokens",
    },
    models: ordered.map(({ id: model, contextWindow, takesImages }) => ({
      id: model,
      input: takesImages ? ["text", "image"] : ["text"],
      ...(contextWindow !== undefined && {
        contextWindow,
        maxTokens: Math.min(contextWindow, 16_384),
      }),
    })),
  });
  return {
    ...{ kind, name: serverNames[kind], origin },
    modelIds: ordered.map((model) => model.id),
    // A server from the setting may be on another machine, where it needs no key either.
    provider: { ...provider, isKeyless: true },
  };
}
