import { type CustomProvider, createCustomProvider } from "./custom-models.ts";

/** A kind of server that speaks the OpenAI chat format on this machine. */
export interface LocalServer {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** Servers and their default ports. */
const localServers: readonly LocalServer[] = [
  { id: "ollama", name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" },
  { id: "lm-studio", name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" },
  { id: "llama.cpp", name: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1" },
  { id: "vllm", name: "vLLM", baseUrl: "http://127.0.0.1:8000/v1" },
];

/** A server that answered. */
export interface FoundServer {
  readonly server: LocalServer;
  readonly modelIds: readonly string[];
  /** For `ModelRegistry.addProvider`. */
  readonly provider: CustomProvider;
}

/** How to look for local servers. */
export interface ProbeOptions {
  readonly fetch?: typeof globalThis.fetch;
  /** Per server, in ms; default 400. */
  readonly timeoutMs?: number;
  readonly servers?: readonly LocalServer[];
}

/**
 * Asks the usual local ports for their models, concurrently. Servers without a valid answer are
 * left out.
 */
export async function probeLocalServers(options: ProbeOptions = {}): Promise<FoundServer[]> {
  const servers = options.servers ?? localServers;
  const found = await Promise.all(servers.map((server) => probe(server, options)));
  return found.filter((server) => server !== undefined);
}

async function probe(server: LocalServer, options: ProbeOptions): Promise<FoundServer | undefined> {
  const { fetch = globalThis.fetch, timeoutMs = 400 } = options;
  try {
    const response = await fetch(`${server.baseUrl}/models`, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    });
    if (!response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    const modelIds = idsOf(await response.json());
    if (modelIds.length === 0) return undefined;
    return { server, modelIds, provider: providerOf(server, modelIds) };
  } catch {
    // No server there, or one with another protocol.
    return undefined;
  }
}

function idsOf(body: unknown): string[] {
  const list = typeof body === "object" && body !== null && "data" in body ? body.data : undefined;
  if (!Array.isArray(list)) return [];
  return list
    .map((entry: unknown) =>
      typeof entry === "object" && entry !== null && "id" in entry ? entry.id : undefined,
    )
    .filter((id): id is string => typeof id === "string" && id !== "" && !/embed/i.test(id));
}

function providerOf(server: LocalServer, modelIds: readonly string[]): CustomProvider {
  return createCustomProvider(server.id, {
    name: server.name,
    baseUrl: server.baseUrl,
    api: "openai-completions",
    // What these servers are known not to support.
    compat: {
      supportsStore: false,
      supportsDeveloperRole: false,
      supportsReasoningEffort: false,
      maxTokensField: "max_tokens",
    },
    models: modelIds.map((id) => ({ id })),
  });
}
