import type {
  ContentBlockDelta,
  ConverseStreamOutput,
  ReasoningContentBlockDelta,
  TokenUsage,
} from "@aws-sdk/client-bedrock-runtime";
import type { Delta, Reducer } from "../provider.ts";
import { asCount, asId, asJson, asList, asObject, asReason, asText } from "../reply/odd-values.ts";

type Stop = Extract<Delta, { type: "stop" }>;

export function createReducer(): Reducer<ConverseStreamOutput> {
  // Blocks of text and thinking start with their first delta; a call has its own start event.
  return function* reduce(chunk) {
    const { contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata } =
      asObject<Events>(chunk);
    if (contentBlockStart) {
      const { contentBlockIndex, start } = asObject(contentBlockStart);
      const call = asObject(start).toolUse;
      if (call) {
        const id = asId(asObject(call).toolUseId);
        const name = asId(asObject(call).name);
        yield {
          type: "tool_call",
          key: keyOf(contentBlockIndex),
          ...(id && { id }),
          ...(name && { name }),
        };
      }
    }
    if (contentBlockDelta) {
      const { contentBlockIndex, delta } = asObject(contentBlockDelta);
      yield* readDelta(keyOf(contentBlockIndex), asObject(delta));
    }
    if (contentBlockStop) {
      yield { type: "block_end", key: keyOf(asObject(contentBlockStop).contentBlockIndex) };
    }
    if (messageStop) yield readStop(asReason(asObject(messageStop).stopReason));
    if (metadata) {
      const { usage, serviceTier } = asObject(metadata);
      yield* readUsage(asObject(usage), asId(asObject(serviceTier).type));
    }
  };
}

/** The events of a reply; exceptions are thrown by the SDK. */
type Events = {
  readonly [Name in EventName]?: Extract<ConverseStreamOutput, { [Key in Name]: object }>[Name];
};

type EventName =
  | "contentBlockStart"
  | "contentBlockDelta"
  | "contentBlockStop"
  | "messageStop"
  | "metadata";

function keyOf(index: unknown): number {
  return asCount(index) ?? 0;
}

/** Skips deltas of unknown kinds. */
function* readDelta(key: number, delta: Partial<ContentBlockDelta>): Generator<Delta> {
  if (delta.text !== undefined) yield { type: "text", key, text: asText(delta.text) };
  if (delta.toolUse) {
    yield { type: "tool_call", key, arguments: asJson(asObject(delta.toolUse).input) };
  }
  if (delta.reasoningContent) yield* readThinking(key, asObject(delta.reasoningContent));
}

function* readThinking(
  key: number,
  { text, signature, redactedContent }: Partial<ReasoningContentBlockDelta>,
): Generator<Delta> {
  if (text !== undefined) yield { type: "thinking", key, text: asText(text) };
  if (signature) {
    yield { type: "thinking", key, text: "" };
    yield { type: "signature", key, signature: asText(signature), append: true };
  }
  if (redactedContent instanceof Uint8Array) {
    yield { type: "thinking", key, text: "", redacted: true };
    const encoded = Buffer.from(redactedContent).toString("base64");
    yield { type: "signature", key, signature: encoded };
  }
}

function* readUsage(usage: Partial<TokenUsage>, serviceTier: string | undefined): Generator<Delta> {
  const cacheWrite1h = asList(usage.cacheDetails)
    .filter(({ ttl }) => ttl === "1h")
    .reduce((sum, { inputTokens }) => sum + (asCount(inputTokens) ?? 0), 0);
  const total = asCount(usage.totalTokens);
  yield {
    type: "usage",
    tokens: {
      input: asCount(usage.inputTokens) ?? 0,
      output: asCount(usage.outputTokens) ?? 0,
      cacheRead: asCount(usage.cacheReadInputTokens) ?? 0,
      cacheWrite: asCount(usage.cacheWriteInputTokens) ?? 0,
      ...(cacheWrite1h > 0 && { cacheWrite1h }),
      ...(total && { totalTokens: total }),
    },
    ...(serviceTier && { serviceTier }),
  };
}

function readStop(raw: string | undefined): Stop {
  switch (raw) {
    case "end_turn":
    case "stop_sequence":
      return { type: "stop", reason: "stop" };
    case "tool_use":
      return { type: "stop", reason: "toolUse" };
    case "max_tokens":
      return { type: "stop", reason: "length" };
    case "model_context_window_exceeded":
      return { type: "stop", reason: "length", raw };
    case "guardrail_intervened":
    case "content_filtered": {
      const what = raw === "content_filtered" ? "The content filter" : "A guardrail";
      const errorMessage = `${what} of Amazon Bedrock stopped the reply (${raw})`;
      return { type: "stop", reason: "error", raw, errorMessage, code: "content_filtered" };
    }
    case "malformed_model_output":
    case "malformed_tool_use":
      // The model made a rare mistake that a retry usually avoids.
      return {
        type: "stop",
        reason: "error",
        raw,
        errorMessage: `The model's reply could not be read (${raw})`,
        code: "overloaded",
      };
    default: {
      const errorMessage = `The model stopped for a reason that is not known: ${raw}`;
      return { type: "stop", reason: "error", ...(raw && { raw }), errorMessage };
    }
  }
}
