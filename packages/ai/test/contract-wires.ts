import type { Environment } from "../src/index.ts";
import type { LoopbackApi } from "../src/testing/index.ts";

/** The description of a wire format for the contract tests. */
export interface Wire {
  readonly api: LoopbackApi;
  /** The bytes of a short reply, as separate events. */
  readonly events: readonly string[];
  readonly overflow: string;
  readonly keyHeader: string;
  /** An event that only keeps the connection open; by default, a comment. */
  readonly signOfLife?: string;
  /** The member of a payload that contains the model; by default, `model`. */
  readonly modelMember?: string;
  /** A base URL that requires no credentials; by default, the usual one. */
  readonly openBaseUrl?: string;
  /** Variables that select this endpoint without a key. */
  readonly environment?: Environment;
  /** Creates an error event within the stream. */
  errorEvent(code: string, text: string): string;
}

/** Excludes the credentials of the user who runs the tests. */
const nobody = { HOME: "/nonexistent" };
const converse = (event: string, members: object): string =>
  `event: ${event}\ndata: ${JSON.stringify(members)}\n\n`;
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string; [field: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`;

const message = { id: "m", type: "message", role: "assistant", model: "x", content: [] };
const chunk = (delta: object, finish: string | null = null): string =>
  data({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "x",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const item = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "in_progress",
  content: [],
};
const part = { type: "output_text", text: "Hello", annotations: [] };
const place = { item_id: "msg_1", output_index: 0, content_index: 0 };

const responses: Omit<Wire, "api"> = {
  events: [
    named({ type: "response.created", response: { id: "r", status: "in_progress", output: [] } }),
    named({ type: "response.output_item.added", output_index: 0, item }),
    named({ type: "response.content_part.added", ...place, part: { ...part, text: "" } }),
    named({ type: "response.output_text.delta", ...place, delta: "Hello" }),
    named({ type: "response.output_text.done", ...place, text: "Hello" }),
    named({
      type: "response.output_item.done",
      output_index: 0,
      item: { ...item, status: "completed", content: [part] },
    }),
    named({
      type: "response.completed",
      response: { id: "r", status: "completed", output: [{ ...item, content: [part] }] },
    }),
  ],
  overflow: "Your input exceeds the context window of this model.",
  keyHeader: "authorization",
  errorEvent: (code, text) =>
    named({
      type: "response.failed",
      response: { status: "failed", error: { code, message: text } },
    }),
};

const anthropic: Omit<Wire, "api"> = {
  events: [
    named({ type: "message_start", message: { ...message, usage: { input_tokens: 1 } } }),
    named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    named({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: "Hello" },
    }),
    named({ type: "content_block_stop", index: 0 }),
    named({
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 1 },
    }),
    named({ type: "message_stop" }),
  ],
  overflow: "prompt is too long: 210000 tokens > 200000 maximum",
  keyHeader: "x-api-key",
  errorEvent: (type, text) => named({ type: "error", error: { type, message: text } }),
};

const google: Omit<Wire, "api"> = {
  events: [
    data({ candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] } }] }),
    data({ candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }] }),
  ],
  overflow:
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  keyHeader: "x-goog-api-key",
  errorEvent: (status, text) => data({ error: { code: 429, message: text, status } }),
};

const completions: Omit<Wire, "api"> = {
  events: [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Hello" }),
    chunk({}, "stop"),
    "data: [DONE]\n\n",
  ],
  overflow: "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
  keyHeader: "authorization",
  errorEvent: (code, text) => data({ error: { code, message: text } }),
};

/** Every wire format. */
export const wires: readonly Wire[] = [
  { api: "anthropic-messages", ...anthropic },
  {
    ...anthropic,
    api: "anthropic-vertex",
    keyHeader: "x-goog-api-key",
    openBaseUrl: "http://localhost:9/v1",
    environment: nobody,
  },
  { api: "google-generative-ai", ...google },
  {
    ...google,
    api: "google-vertex",
    openBaseUrl: "http://localhost:9/v1",
    environment: nobody,
  },
  { api: "openai-completions", ...completions },
  {
    ...completions,
    api: "mistral-conversations",
    overflow: "Prompt contains 9 tokens, too large for model with 8 maximum context length",
  },
  {
    api: "bedrock-converse-stream",
    events: [
      converse("messageStart", { role: "assistant" }),
      converse("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hello" } }),
      converse("contentBlockStop", { contentBlockIndex: 0 }),
      converse("messageStop", { stopReason: "end_turn" }),
      converse("metadata", { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
    ],
    overflow: "Input is too long for requested model.",
    keyHeader: "authorization",
    modelMember: "modelId",
    signOfLife: converse("unheardOf", {}),
    environment: { AWS_BEDROCK_SKIP_AUTH: "1" },
    errorEvent: (code, text) =>
      converse(
        code === "RESOURCE_EXHAUSTED" ? "throttlingException" : "serviceQuotaExceededException",
        { message: text },
      ),
  },
  { api: "openai-responses", ...responses },
  { api: "azure-openai-responses", ...responses, keyHeader: "api-key" },
  { api: "openai-codex-responses", ...responses },
];
