import type {
  MessageDeltaUsage,
  RawContentBlockDeltaEvent,
  RawContentBlockStartEvent,
  RawMessageStreamEvent,
  RefusalStopDetails,
  Usage,
} from "@anthropic-ai/sdk/resources/messages";
import type { Delta, Reducer, TokenCounts } from "../provider.ts";

type Stop = Extract<Delta, { type: "stop" }>;

/** Vendor events → deltas, for one reply. */
export function createReducer(): Reducer<RawMessageStreamEvent> {
  let stop: Stop = { type: "stop", reason: "stop" };
  const blocks = new Map<number, { arguments?: string }>();
  return function* reduce(event) {
    switch (event.type) {
      case "message_start": {
        const { id, model, usage } = event.message;
        yield { type: "response", id, model };
        yield* readUsage(usage);
        break;
      }
      case "content_block_start":
        yield* startBlock(event, blocks);
        break;
      case "content_block_delta":
        if (blocks.has(event.index)) yield* readDelta(event);
        break;
      case "content_block_stop": {
        const block = blocks.get(event.index);
        if (block !== undefined) yield { type: "block_end", key: event.index, ...block };
        break;
      }
      case "message_delta":
        yield* readUsage(event.usage);
        stop = readStop(event.delta.stop_reason, event.delta.stop_details);
        break;
      case "message_stop":
        yield stop;
        break;
    }
  };
}

/** Blocks of the vendor's own server tools have no counterpart and are passed over. */
function* startBlock(
  { index: key, content_block: block }: RawContentBlockStartEvent,
  blocks: Map<number, { arguments?: string }>,
): Iterable<Delta> {
  switch (block.type) {
    case "text":
      blocks.set(key, {});
      yield { type: "text", key, text: block.text };
      break;
    case "thinking":
      blocks.set(key, {});
      yield { type: "thinking", key, text: block.thinking };
      if (block.signature) yield { type: "signature", key, signature: block.signature };
      break;
    case "redacted_thinking":
      blocks.set(key, {});
      yield { type: "thinking", key, text: "", redacted: true };
      yield { type: "signature", key, signature: block.data };
      break;
    case "tool_use": {
      // Some compatible servers send the whole input here and no deltas.
      const input = JSON.stringify(block.input ?? {});
      blocks.set(key, input === "{}" ? {} : { arguments: input });
      yield { type: "tool_call", key, id: block.id, name: block.name };
      break;
    }
  }
}

function* readDelta({ index: key, delta }: RawContentBlockDeltaEvent): Iterable<Delta> {
  switch (delta.type) {
    case "text_delta":
      yield { type: "text", key, text: delta.text };
      break;
    case "thinking_delta":
      yield { type: "thinking", key, text: delta.thinking };
      break;
    case "signature_delta":
      yield { type: "signature", key, signature: delta.signature, append: true };
      break;
    case "input_json_delta":
      yield { type: "tool_call", key, arguments: delta.partial_json };
      break;
  }
}

type ReportedUsage = { [Name in keyof Usage]?: Usage[Name] | null } | MessageDeltaUsage;

/** Later events repeat counts, but proxies send zero or nothing for what they do not know. */
function* readUsage(usage: ReportedUsage | undefined): Iterable<Delta> {
  if (usage === undefined) return;
  const counts: [keyof TokenCounts, number | null | undefined][] = [
    ["input", usage.input_tokens],
    ["output", usage.output_tokens],
    ["cacheRead", usage.cache_read_input_tokens],
    ["cacheWrite", usage.cache_creation_input_tokens],
    [
      "cacheWrite1h",
      "cache_creation" in usage ? usage.cache_creation?.ephemeral_1h_input_tokens : 0,
    ],
    ["reasoning", usage.output_tokens_details?.thinking_tokens],
  ];
  const tokens: TokenCounts = Object.fromEntries(counts.filter(([, count]) => count));
  yield {
    type: "usage",
    tokens,
    ...("service_tier" in usage && usage.service_tier && { serviceTier: usage.service_tier }),
  };
}

function readStop(
  reason: string | null | undefined,
  details: RefusalStopDetails | null | undefined,
): Stop {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
    case null:
    case undefined:
      return { type: "stop", reason: "stop" };
    case "pause_turn":
      return { type: "stop", reason: "stop", raw: reason };
    case "max_tokens":
      return { type: "stop", reason: "length" };
    case "model_context_window_exceeded":
      return { type: "stop", reason: "length", raw: reason };
    case "tool_use":
      return { type: "stop", reason: "toolUse" };
    case "refusal":
    case "sensitive": {
      const why = details?.explanation ?? details?.category;
      const errorMessage = `The model refused to answer${why ? `: ${why}` : ""}`;
      return { type: "stop", reason: "error", raw: reason, errorMessage, code: "content_filtered" };
    }
    default: {
      const errorMessage = `The model stopped for a reason that is not known: ${reason}`;
      return { type: "stop", reason: "error", raw: reason, errorMessage };
    }
  }
}
