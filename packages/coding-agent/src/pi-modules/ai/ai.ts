import {
  type Context,
  clampThinkingLevel,
  computeCost,
  createStream,
  isContextOverflow,
  listProviders,
  loadModels,
  type StreamOptions,
  supportedThinkingLevels,
} from "@tau-agent/ai";
import { builtInCatalog, createModelRegistry } from "@tau-agent/models";
import type { AssistantMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { PartialJson, parseJson } from "@tau-agent/rpc-protocol/plain";
import { keyVariableNames, ProcessRegistry, randomUuid } from "@tau-agent/system";
import {
  AssistantMessageEventStream,
  EventStream,
} from "../../extensions/providers/event-stream.ts";
import { replyStream } from "../../extensions/providers/reply-stream.ts";
import type { HostPlaces } from "../base/host-places.ts";
import { loadOldTypebox } from "../base/typebox.ts";
import { unsupported } from "../base/unsupported.ts";
import { newerAiFunctions } from "./ai-newer.ts";
import { fauxFunctions } from "./faux.ts";
import { providerBuilders } from "./providers.ts";

type Options = Partial<StreamOptions> & {
  readonly reasoning?: ThinkingLevel | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Replaces pi's model library, on top of ours. */
export async function loadPiAi(places: HostPlaces): Promise<object> {
  const streamReply = createStream();
  const catalog = await readCatalog();
  const typebox = (await loadOldTypebox()) as { Type: unknown };
  const registry = createModelRegistry({
    agentDirectory: places.agentDirectory,
    environment: places.environment,
    processes: new ProcessRegistry({ systemRoot: places.environment.SystemRoot }),
    catalog: builtInCatalog(),
  });
  const open = (model: Model, context: unknown, options: Options = {}) => {
    const { reasoning, ...given } = options;
    return replyStream(model, async () => {
      const auth =
        given.apiKey === undefined
          ? await registry.requestAuth(model).catch(() => undefined)
          : undefined;
      const level = reasoning === undefined ? {} : { thinkingLevel: reasoning };
      const headers = { ...auth?.headers, ...given.headers };
      return streamReply(model, context as Context, { ...auth, ...level, ...given, headers });
    });
  };
  const complete = (model: Model, context: unknown, options?: Options) =>
    open(model, context, options).result();
  return {
    ...streamsByFormat(open),
    Type: typebox.Type,
    StringEnum: (values: readonly string[], options: object = {}) => ({
      type: "string",
      enum: [...values],
      ...options,
    }),
    stream: open,
    streamSimple: open,
    complete,
    completeSimple: complete,
    ...catalogFunctions(catalog),
    EventStream,
    AssistantMessageEventStream,
    createAssistantMessageEventStream: () => new AssistantMessageEventStream(),
    getEnvApiKey: (provider: string) => environmentKey(registry.keys.variablesOf(provider), places),
    isContextOverflow: (message: AssistantMessage, contextWindow?: number) =>
      isOverflow(message, contextWindow),
    findEnvKeys: (provider: string) =>
      registry.keys.variablesOf(provider).filter((name) => places.environment[name] !== undefined),
    getOverflowPatterns: () => [],
    calculateCost: (model: Model, usage: AssistantMessage["usage"]) => {
      const { input, output, cacheRead, cacheWrite, cacheWrite1h = 0 } = usage;
      const tokens = { input, output, cacheRead, cacheWrite, cacheWrite1h };
      usage.cost = computeCost(model.cost, tokens);
      return usage.cost;
    },
    supportsXhigh: (model: Model) => supportedThinkingLevels(model).includes("xhigh"),
    getSupportedThinkingLevels: supportedThinkingLevels,
    clampThinkingLevel,
    modelsAreEqual: (a?: Model | null, b?: Model | null) =>
      Boolean(a && b && a.id === b.id && a.provider === b.provider),
    contentText: textOf,
    uuidv7: randomUuid,
    validateToolArguments: (_tool: unknown, call: { arguments: unknown }) => call.arguments,
    validateToolCall: (_tools: unknown, call: { arguments: unknown }) => call.arguments,
    parseStreamingJson: parsePartly,
    // Does nothing, because it is called while extensions load and must not make them fail; pi.registerProvider works.
    registerApiProvider: () => {},
    unregisterApiProviders: () => {},
    clearApiProviders: () => {},
    resetApiProviders: () => {},
    registerBuiltInApiProviders: () => {},
    setBedrockProviderModule: () => {},
    registerSessionResourceCleanup: () => () => {},
    cleanupSessionResources: async () => {},
    getImageModel: () => undefined,
    getImageModels: () => [],
    getImageProviders: () => [],
    DEFAULT_MAX_AGENT_RETRY_DELAY_MS: 60_000,
    parseJsonWithRepair: (text: string) => parseJson(text, {}),
    formatThrownValue: (value: unknown) => (value instanceof Error ? value.message : String(value)),
    ...newerAiFunctions(places.version),
    ...providerBuilders(),
    ...fauxFunctions(),
    ...Object.fromEntries(notSupported.map((name) => [name, unsupported(name)])),
    // Called while extensions load. An API that the host lacks fails at its first request.
    getApiProvider: (api: string) => ({ api, stream: open, streamSimple: open }),
    getApiProviders: () => [],
    ...loginFunctions(),
    secretVariableNames: () => [...keyVariableNames()],
  };
}

/** Parts of newer model libraries that only programs built on them need. */
const notSupported = [
  "createModels",
  "createImagesModels",
  "createImagesProvider",
  "convertMessages",
  "buildRequest",
  "normalizeContext",
  "retryAssistantCall",
  "reduceAssistantMessageFrames",
  "resolveTranscript",
  "generateImages",
];

/** Logins with an account need a terminal or a browser; keys in auth.json work. */
export function loginFunctions(): object {
  const names = ["Anthropic", "OpenAICodex", "GitHubCopilot", "GeminiCli", "Antigravity"];
  const logins = names.flatMap((name) => [
    [`login${name}`, unsupported(`login${name}`)],
    [`refresh${name}Token`, unsupported(`refresh${name}Token`)],
  ]);
  return {
    ...Object.fromEntries(logins),
    getOAuthProvider: () => undefined,
    getOAuthProviders: () => [],
    getOAuthApiKey: async () => null,
    registerOAuthProvider: () => {},
    unregisterOAuthProvider: () => {},
    resetOAuthProviders: () => {},
    refreshOAuthToken: unsupported("refreshOAuthToken"),
    getOAuthProviderInfoList: () => [],
    normalizeDomain: hostOf,
    getGitHubCopilotBaseUrl: (_token?: string, enterprise?: string) =>
      enterprise === undefined
        ? "https://api.individual.githubcopilot.com"
        : `https://copilot-api.${hostOf(enterprise) ?? enterprise}`,
    ...Object.fromEntries(accounts.map(([id, name]) => [`${id}OAuthProvider`, account(id, name)])),
  };
}

const accounts = [
  ["anthropic", "Anthropic"],
  ["openaiCodex", "OpenAI Codex"],
  ["githubCopilot", "GitHub Copilot"],
  ["geminiCli", "Gemini CLI"],
  ["antigravity", "Antigravity"],
] as const;

/** Extensions build their own providers on these. */
function account(id: string, name: string): object {
  return {
    id: id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    name,
    login: unsupported(`${id}OAuthProvider.login`),
    refreshToken: unsupported(`${id}OAuthProvider.refreshToken`),
    getApiKey: ({ access }: { access: string }) => access,
  };
}

function hostOf(address: string): string | null {
  try {
    return new URL(/^[a-z]+:\/\//i.test(address) ? address : `https://${address}`).hostname || null;
  } catch {
    return null;
  }
}

async function readCatalog(): Promise<ReadonlyMap<string, readonly Model[]>> {
  const providers = listProviders().map(({ id }) => id);
  const lists = await Promise.all(providers.map(async (id) => [id, await loadModels(id)] as const));
  return new Map(lists);
}

function catalogFunctions(catalog: ReadonlyMap<string, readonly Model[]>): object {
  const models = (provider: string): Model[] => [...(catalog.get(provider) ?? [])];
  const find = (provider: string, id: string) => models(provider).find((model) => model.id === id);
  return {
    getModel: find,
    getBuiltinModel: find,
    getModels: models,
    getBuiltinModels: models,
    getProviders: () => [...catalog.keys()],
    getBuiltinProviders: () => [...catalog.keys()],
  };
}

type Open = (model: Model, context: unknown, options?: Options) => AssistantMessageEventStream;

/** Functions for one wire format each, whatever the model's format is. */
function streamsByFormat(open: Open): object {
  const formats = {
    Anthropic: "anthropic-messages",
    OpenAICompletions: "openai-completions",
    OpenAIResponses: "openai-responses",
    Google: "google-generative-ai",
  };
  const entries = Object.entries(formats).flatMap(([name, api]) => {
    const fixed: Open = (model, context, options) => open({ ...model, api }, context, options);
    const lower = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    return [
      [`stream${name}`, fixed],
      [`streamSimple${name}`, fixed],
      [`${lower}Api`, () => ({ api, stream: fixed, streamSimple: fixed })],
    ];
  });
  // Formats of newer libraries without a specific implementation here: the model determines the format.
  const others = ["OpenAICodexResponses", "AzureOpenAIResponses", "GoogleVertex", "Mistral"]
    .concat(["GoogleGeminiCli", "Bedrock"])
    .flatMap((name) => [
      [`stream${name}`, open],
      [`streamSimple${name}`, open],
    ]);
  return Object.fromEntries([...entries, ...others]);
}

function environmentKey(names: readonly string[], { environment }: HostPlaces): string | undefined {
  return names.map((name) => environment[name]).find((value) => value !== undefined);
}

function isOverflow({ errorMessage, usage }: AssistantMessage, contextWindow?: number): boolean {
  if (errorMessage !== undefined && isContextOverflow(errorMessage)) return true;
  return contextWindow !== undefined && usage.input + usage.cacheRead > contextWindow;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? (content as { type?: string; text?: string }[]) : [];
  return blocks
    .filter(({ type }) => type === "text")
    .map(({ text }) => text ?? "")
    .join("\n");
}

/** Parses the part of an object whose text is still incomplete. */
function parsePartly(text = ""): unknown {
  const json = new PartialJson();
  json.feed(text);
  return json.value ?? {};
}
