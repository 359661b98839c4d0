import type {
  Candidate,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
  Part,
} from "@google/genai";
import type { Delta, Reducer } from "../provider.ts";
import { asCount, asId, asJson, asList, asObject, asReason, asText } from "../reply/odd-values.ts";
import { PartialArgs } from "./partial-args.ts";

/** The members of a chunk that are read; the SDK's class adds getters. */
export type GoogleChunk = Pick<
  GenerateContentResponse,
  "candidates" | "modelVersion" | "promptFeedback" | "responseId" | "usageMetadata"
>;

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
    const [candidate] = asList(chunk.candidates);
    for (const part of asList(asObject(candidate?.content).parts)) yield* parts.read(part);
    if (chunk.usageMetadata) yield readUsage(asObject(chunk.usageMetadata));
    if (candidate?.finishReason) {
      yield* parts.end();
      yield readStop(candidate);
    } else if (chunk.promptFeedback?.blockReason) {
      const { blockReason, blockReasonMessage } = chunk.promptFeedback;
      yield refusal(blockReason, `The prompt was blocked (${blockReason})`, blockReasonMessage);
    }
  };
}

/** Turns parts into blocks. Parts have no index: adjacent parts of one kind form one block. */
class PartReader {
  #key = 0;
  #open: "text" | "thinking" | undefined;
  /** The call whose arguments are still arriving. */
  #call: PartialArgs | undefined;

  *read(part: Part): Iterable<Delta> {
    const text = asText(part.text);
    if (typeof part.functionCall === "object" && part.functionCall !== null) {
      yield* this.#readCall(part);
    } else if (part.text !== undefined && part.text !== null) {
      const type = part.thought === true ? "thinking" : "text";
      if (text === "" && !part.thoughtSignature) return;
      if (this.#open !== type) {
        yield* this.end();
        this.#open = type;
      }
      yield { type, key: this.#key, text };
      yield* this.#sign(part);
    }
  }

  *end(): Iterable<Delta> {
    if (this.#call !== undefined) yield* this.#endCall("");
    if (this.#open !== undefined) yield { type: "block_end", key: this.#key };
    this.#open = undefined;
    this.#key++;
  }

  *#readCall(part: Part): Iterable<Delta> {
    const { id: given, name: called, args, partialArgs, willContinue } = part.functionCall ?? {};
    const name = asId(called);
    const goesOn = name === undefined && this.#call !== undefined;
    if (!goesOn) {
      yield* this.end();
      const id = asId(given);
      yield { type: "tool_call", key: this.#key, ...(name && { name }), ...(id && { id }) };
      this.#call = new PartialArgs();
    }
    for (const piece of asList(partialArgs)) yield* this.#grow(this.#call?.add(piece));
    yield* this.#sign(part);
    if (willContinue !== true) yield* this.#endCall(asJson(args));
  }

  *#grow(text = ""): Iterable<Delta> {
    if (text !== "") yield { type: "tool_call", key: this.#key, arguments: text };
  }

  /** Arguments arrive in pieces or all at once at the end. */
  *#endCall(whole: string): Iterable<Delta> {
    const isWhole = whole !== "" && this.#call?.isEmpty === true;
    yield* this.#grow(isWhole ? whole : this.#call?.end());
    yield { type: "block_end", key: this.#key++ };
    this.#call = undefined;
  }

  *#sign({ thoughtSignature: signature }: Part): Iterable<Delta> {
    if (signature) yield { type: "signature", key: this.#key, signature };
  }
}

/** The prompt count includes cached tokens; the candidates count does not include thoughts. */
function readUsage(usage: GenerateContentResponseUsageMetadata): Delta {
  const promptTokenCount = asCount(usage.promptTokenCount) ?? 0;
  const toolUsePromptTokenCount = asCount(usage.toolUsePromptTokenCount) ?? 0;
  const cachedContentTokenCount = asCount(usage.cachedContentTokenCount) ?? 0;
  const candidatesTokenCount = asCount(usage.candidatesTokenCount) ?? 0;
  const thoughtsTokenCount = asCount(usage.thoughtsTokenCount) ?? 0;
  const totalTokenCount = asCount(usage.totalTokenCount);
  return {
    type: "usage",
    tokens: {
      input: Math.max(0, promptTokenCount + toolUsePromptTokenCount - cachedContentTokenCount),
      output: candidatesTokenCount + thoughtsTokenCount,
      cacheRead: cachedContentTokenCount,
      ...(thoughtsTokenCount > 0 && { reasoning: thoughtsTokenCount }),
      ...(totalTokenCount && { totalTokens: totalTokenCount }),
    },
    // Missing from the SDK's type.
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

/** The model made a rare mistake that a retry usually avoids. */
const slips: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "MALFORMED_RESPONSE",
]);

function readStop({ finishReason, finishMessage }: Candidate): Delta {
  const raw = asReason(finishReason) ?? "FINISH_REASON_UNSPECIFIED";
  if (raw === "STOP") return { type: "stop", reason: "stop" };
  if (raw === "MAX_TOKENS") return { type: "stop", reason: "length" };
  if (refusals.has(raw)) return refusal(raw, `The reply was blocked (${raw})`, finishMessage);
  const errorMessage = withDetail(`The model stopped with ${raw}`, finishMessage);
  const isSlip = slips.has(raw);
  return {
    type: "stop",
    reason: "error",
    raw,
    errorMessage,
    ...(isSlip && { code: "overloaded" }),
  };
}

function refusal(raw: string, text: string, detail: string | undefined): Delta {
  const errorMessage = withDetail(text, detail);
  return { type: "stop", reason: "error", raw, errorMessage, code: "content_filtered" };
}

function withDetail(text: string, finishMessage: string | undefined): string {
  const detail = asText(finishMessage);
  return detail ? `${text}: ${detail}` : text;
}
