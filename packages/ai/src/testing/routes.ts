import type { LoopbackApi } from "./loopback-api.ts";
import { anthropicMessagesWire } from "./wire/anthropic-messages.ts";
import { anthropicVertexWire } from "./wire/anthropic-vertex.ts";
import { bedrockConverseStreamWire } from "./wire/bedrock-converse-stream.ts";
import { googleGenerativeAiWire } from "./wire/google-generative-ai.ts";
import { googleVertexWire } from "./wire/google-vertex.ts";
import { mistralConversationsWire } from "./wire/mistral-conversations.ts";
import { openaiCompletionsWire } from "./wire/openai-completions.ts";
import { openaiResponsesWire } from "./wire/openai-responses.ts";
import type { WireFormat } from "./wire/wire-format.ts";

/** The path at which a wire format is served. */
interface Route {
  readonly api: LoopbackApi;
  readonly path: RegExp;
  readonly format: WireFormat;
  /** The base URL of a model, relative to the server's origin. */
  readonly base: string;
}

/** The first route whose path matches serves a request. */
const routes: readonly Route[] = [
  {
    api: "azure-openai-responses",
    path: /\/openai(?:\/v1)?\/responses$/,
    format: openaiResponsesWire,
    base: "",
  },
  {
    api: "openai-codex-responses",
    path: /\/codex\/responses$/,
    format: openaiResponsesWire,
    base: "",
  },
  {
    api: "bedrock-converse-stream",
    path: /\/model\/[^/]+\/converse-stream$/,
    format: bedrockConverseStreamWire,
    base: "",
  },
  {
    api: "google-vertex",
    path: /\/publishers\/google\/models\/[^/]+:streamGenerateContent$/,
    format: googleVertexWire,
    base: "",
  },
  {
    api: "anthropic-vertex",
    path: /\/publishers\/anthropic\/models\/[^/]+:streamRawPredict$/,
    format: anthropicVertexWire,
    base: "",
  },
  { api: "anthropic-messages", path: /\/messages$/, format: anthropicMessagesWire, base: "" },
  {
    // Under a separate path, because Mistral's path is the same as that of chat completions.
    api: "mistral-conversations",
    path: /\/mistral(?:\/v1)?\/chat\/completions$/,
    format: mistralConversationsWire,
    base: "/mistral",
  },
  {
    api: "openai-completions",
    path: /\/chat\/completions$/,
    format: openaiCompletionsWire,
    base: "/v1",
  },
  { api: "openai-responses", path: /\/responses$/, format: openaiResponsesWire, base: "/v1" },
  {
    api: "google-generative-ai",
    path: /\/models\/[^/]+:streamGenerateContent$/,
    format: googleGenerativeAiWire,
    base: "/v1beta",
  },
];

/** The route of a request, or of `api` whatever the path; undefined if nothing is served there. */
export function routeOf(path: string, api?: LoopbackApi): Route | undefined {
  return routes.find((route) => (api === undefined ? route.path.test(path) : route.api === api));
}

/** Base URLs by wire format, for models. */
export function baseUrls(origin: string): Readonly<Record<LoopbackApi, string>> {
  const urls = routes.map(({ api, base }) => [api, `${origin}${base}`] as const);
  return Object.fromEntries(urls) as Record<LoopbackApi, string>;
}

/** The server side of each wire format. */
export const wireFormats: Readonly<Record<LoopbackApi, WireFormat>> = Object.fromEntries(
  routes.map(({ api, format }) => [api, format]),
) as Record<LoopbackApi, WireFormat>;
