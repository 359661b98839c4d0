import type {
  Message,
  MessageDeltaUsage,
  RawContentBlockDeltaEvent,
  RawContentBlockStartEvent,
  RawContentBlockStopEvent,
  RawMessageDeltaEvent,
  RawMessageStartEvent,
  RawMessageStreamEvent,
  RefusalStopDetails,
  Usage,
} from "@anthropic-ai/sdk/resources/messages";
import type { Delta, Reducer, TokenCounts } from "../provider.ts";
import { asCount, asId, asJson, asObject, asReason, asText } from "../reply/odd-values.ts";
import { readVendorCost } from "../reply/vendor-cost.ts";

type Stop = Extract<Delta, { type: "stop" }>;

export function createReducer(): Reducer<RawMessageStreamEvent> {
  const reply = new Reply();
  return (event) => reply.read(event);
}

interface Block {
  readonly key: number;
  readonly type: string;
  readonly id: string | undefined;
  hasEnded: boolean;
  /** The whole input, from servers that send it at the start of the block. */
  readonly input: string | undefined;
}

class Reply {
  #stop: Stop = { type: "stop", reason: "stop" };
  #count = 0;
  /** Open blocks by the index of their events. */
  readonly #blocks = new Map<unknown, Block>();

  *read(event: RawMessageStreamEvent): Generator<Delta> {
    switch (asObject(event).type) {
      case "message_start":
        yield* this.#start(asObject((event as RawMessageStartEvent).message));
        break;
      case "content_block_start":
        yield* this.#startBlock(event as RawContentBlockStartEvent);
        break;
      case "content_block_delta": {
        const { index, delta } = event as RawContentBlockDeltaEvent;
        const block = this.#blocks.get(index);
        if (block !== undefined) yield* readDelta(block.key, asObject(delta));
        break;
      }
      case "content_block_stop": {
        const block = this.#blocks.get((event as RawContentBlockStopEvent).index);
        if (block === undefined || block.hasEnded) break;
        block.hasEnded = true;
        const { key, input } = block;
        yield { type: "block_end", key, ...(input !== undefined && { arguments: input }) };
        break;
      }
      case "message_delta": {
        const { usage, delta } = event as RawMessageDeltaEvent;
        yield* readUsage(asObject(usage));
        const { stop_reason, stop_details } = asObject(delta);
        // Some servers send the stop reason first and the usage separately after it.
        if (stop_reason) this.#stop = readStop(stop_reason, stop_details);
        break;
      }
      case "message_stop":
        yield this.#stop;
        break;
    }
  }

  /** A gateway that lost its own connection may start the message again. */
  *#start({ id, model, usage }: Partial<Message>): Generator<Delta> {
    if (this.#blocks.size > 0) {
      this.#blocks.clear();
      yield { type: "restart" };
    }
    yield { type: "response", ...(id && { id }), ...(model && { model }) };
    yield* readUsage(asObject(usage));
  }

  /** Skips blocks of the vendor's own server tools, which have no counterpart here. */
  *#startBlock({ index, content_block }: RawContentBlockStartEvent): Generator<Delta> {
    const start = asObject(content_block) as Partial<Record<string, unknown>>;
    const type = asText(start.type);
    const id = asId(start.id);
    const known = this.#blocks.get(index);
    const isRepeated = type === known?.type && (!known.hasEnded || (id && id === known.id));
    if (isRepeated) return;
    const input = type === "tool_use" ? asJson(start.input) : "";
    const key = this.#count++;
    const hasInput = input !== "" && input !== "{}";
    const block = { key, type, id, hasEnded: false, input: hasInput ? input : undefined };
    const deltas = readStart(key, type, start);
    if (deltas.length > 0) this.#blocks.set(index, block);
    else this.#blocks.delete(index);
    yield* deltas;
  }
}

function readStart(key: number, type: string, start: Record<string, unknown>): Delta[] {
  switch (type) {
    case "text":
      return [{ type, key, text: asText(start.text) }];
    case "thinking": {
      const signature = asText(start.signature);
      const thinking: Delta = { type, key, text: asText(start.thinking) };
      return signature === "" ? [thinking] : [thinking, { type: "signature", key, signature }];
    }
    case "redacted_thinking":
      return [
        { type: "thinking", key, text: "", redacted: true },
        { type: "signature", key, signature: asText(start.data) },
      ];
    case "tool_use": {
      const id = asId(start.id);
      const name = asId(start.name);
      return [{ type: "tool_call", key, ...(id && { id }), ...(name && { name }) }];
    }
    default:
      return [];
  }
}

function* readDelta(key: number, delta: Record<string, unknown>): Generator<Delta> {
  switch (delta.type) {
    case "text_delta":
      yield { type: "text", key, text: asText(delta.text) };
      break;
    case "thinking_delta":
      yield { type: "thinking", key, text: asText(delta.thinking) };
      break;
    case "signature_delta":
      yield { type: "signature", key, signature: asText(delta.signature), append: true };
      break;
    case "input_json_delta":
      yield { type: "tool_call", key, arguments: asJson(delta.partial_json) };
      break;
  }
}

type ReportedUsage = { [Name in keyof Usage]?: Usage[Name] | null } | Partial<MessageDeltaUsage>;

/** Later events repeat counts, but proxies send zero or nothing for counts they do not know. */
function* readUsage(usage: ReportedUsage): Generator<Delta> {
  const reported: [keyof TokenCounts, unknown][] = [
    ["input", usage.input_tokens],
    ["output", usage.output_tokens],
    ["cacheRead", usage.cache_read_input_tokens],
    ["cacheWrite", usage.cache_creation_input_tokens],
    [
      "cacheWrite1h",
      "cache_creation" in usage ? asObject(usage.cache_creation).ephemeral_1h_input_tokens : 0,
    ],
    ["reasoning", asObject(usage.output_tokens_details).thinking_tokens],
  ];
  const counts = reported.map(([name, count]) => [name, asCount(count)] as const);
  const tokens: TokenCounts = Object.fromEntries(counts.filter(([, count]) => count));
  const costTotal = readVendorCost(usage);
  yield {
    type: "usage",
    tokens,
    ...(costTotal !== undefined && { costTotal }),
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
      const errorMessage = `The model stopped for a reason that is not known: ${asReason(reason)}`;
      return { type: "stop", reason: "error", raw: reason, errorMessage };
    }
  }
}
