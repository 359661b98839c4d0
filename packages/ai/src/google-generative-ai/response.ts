import type {
  Candidate,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
  Part,
} from "@google/genai";
import type { Delta, Reducer } from "../provider.ts";

/** The fields of a chunk that are read; the SDK's class adds getters. */
export type GoogleChunk = Pick<
  GenerateContentResponse,
  "candidates" | "modelVersion" | "promptFeedback" | "responseId" | "usageMetadata"
>;

/** Vendor chunks → deltas, for one reply. */
export function createReducer(): Reducer<GoogleChunk> {
  const parts = new PartReader();
  let hasIdentity = false;
  return function* reduce(chunk) {
    if (!hasIdentity && (chunk.responseId || chunk.modelVersion)) {
      hasIdentity = true;
      yield {
        type: "response",
        ...(chunk.responseId && { id: chunk.responseId }),
        ...(chunk.modelVersion && { model: chunk.modelVersion }),
      };
    }
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) yield* parts.read(part);
    if (chunk.usageMetadata) yield readUsage(chunk.usageMetadata);
    if (candidate?.finishReason) {
      yield* parts.end();
      yield readStop(candidate);
    } else if (chunk.promptFeedback?.blockReason) {
      const { blockReason, blockReasonMessage } = chunk.promptFeedback;
      yield refusal(blockReason, `The prompt was blocked (${blockReason})`, blockReasonMessage);
    }
  };
}

/** Parts have no index: neighbours of one kind are one block. */
class PartReader {
  #key = 0;
  #open: "text" | "thinking" | undefined;
  readonly #callIds = new Set<string>();

  *read(part: Part): Iterable<Delta> {
    if (part.functionCall !== undefined) {
      yield* this.#readCall(part);
    } else if (part.text !== undefined) {
      const type = part.thought === true ? "thinking" : "text";
      if (part.text === "" && !part.thoughtSignature) return;
      if (this.#open !== type) {
        yield* this.end();
        this.#open = type;
      }
      yield { type, key: this.#key, text: part.text };
      yield* this.#sign(part);
    }
  }

  *end(): Iterable<Delta> {
    if (this.#open !== undefined) yield { type: "block_end", key: this.#key };
    this.#open = undefined;
    this.#key++;
  }

  *#readCall(part: Part): Iterable<Delta> {
    yield* this.end();
    const { id, name = "", args = {} } = part.functionCall ?? {};
    const isNew = id !== undefined && id !== "" && !this.#callIds.has(id);
    if (isNew) this.#callIds.add(id);
    const key = this.#key;
    yield { type: "tool_call", key, name, ...(isNew && { id }) };
    yield { type: "tool_call", key, arguments: JSON.stringify(args) };
    yield* this.#sign(part);
    yield { type: "block_end", key };
    this.#key++;
  }

  *#sign({ thoughtSignature: signature }: Part): Iterable<Delta> {
    if (signature) yield { type: "signature", key: this.#key, signature };
  }
}

/** Cached tokens are a part of the prompt's, thoughts are not a part of the candidates'. */
function readUsage(usage: GenerateContentResponseUsageMetadata): Delta {
  const {
    promptTokenCount = 0,
    toolUsePromptTokenCount = 0,
    cachedContentTokenCount = 0,
    candidatesTokenCount = 0,
    thoughtsTokenCount = 0,
    totalTokenCount,
  } = usage;
  return {
    type: "usage",
    tokens: {
      input: Math.max(0, promptTokenCount + toolUsePromptTokenCount - cachedContentTokenCount),
      output: candidatesTokenCount + thoughtsTokenCount,
      cacheRead: cachedContentTokenCount,
      ...(thoughtsTokenCount > 0 && { reasoning: thoughtsTokenCount }),
      ...(totalTokenCount && { totalTokens: totalTokenCount }),
    },
    // The SDK's types leave it out here.
    ...("serviceTier" in usage &&
      typeof usage.serviceTier === "string" && { serviceTier: usage.serviceTier }),
  };
}

const refusals: ReadonlySet<string> = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);

function readStop({ finishReason, finishMessage }: Candidate): Delta {
  const raw: string = finishReason ?? "FINISH_REASON_UNSPECIFIED";
  if (raw === "STOP") return { type: "stop", reason: "stop" };
  if (raw === "MAX_TOKENS") return { type: "stop", reason: "length" };
  if (refusals.has(raw)) return refusal(raw, `The reply was blocked (${raw})`, finishMessage);
  const errorMessage = withDetail(`The model stopped with ${raw}`, finishMessage);
  return { type: "stop", reason: "error", raw, errorMessage };
}

function refusal(raw: string, text: string, detail: string | undefined): Delta {
  const errorMessage = withDetail(text, detail);
  return { type: "stop", reason: "error", raw, errorMessage, code: "content_filtered" };
}

function withDetail(text: string, detail: string | undefined): string {
  return detail ? `${text}: ${detail}` : text;
}
