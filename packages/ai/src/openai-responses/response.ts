import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { streamedError } from "../error-body.ts";
import type { Delta } from "../provider.ts";
import { asCount, asId, asJson, asList, asObject, asReason, asText } from "../reply/odd-values.ts";
import { readVendorCost } from "../reply/vendor-cost.ts";
import { jsonText } from "../request/json-text.ts";
import type { OutputItem, ResponseObject, ResponsesEvent, ResponsesUsage } from "./events.ts";
import { type Item, ItemTable } from "./item-table.ts";
import { writeTextSignature } from "./signatures.ts";

type Stop = Extract<Delta, { type: "stop" }>;

/** Creates a reducer from events to deltas for one reply. An error event is thrown as a classified error. */
export function createReducer(): (event: ResponsesEvent | null) => Iterable<Delta> {
  const reply = new Reply();
  return (event) => reply.read(event);
}

class Reply {
  readonly #items = new ItemTable();
  #hasResponse = false;

  *read(event: ResponsesEvent | null): Generator<Delta> {
    if (event === null || typeof event !== "object") return;
    const type = event.type ?? "";
    if (isJsonObject(event.response)) yield* this.#identify(event.response);
    switch (type) {
      case "response.output_item.added":
        if (isJsonObject(event.item)) {
          yield* this.#start(this.#items.announce(event, event.item), event.item);
        }
        return;
      case "response.output_item.done":
        if (isJsonObject(event.item)) {
          yield* this.#finish(this.#items.find(event, event.item), event.item);
        }
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.done":
      case "response.failed":
      case "response.cancelled":
        yield* this.#end(type, asObject(event.response));
        return;
      case "error":
        throw streamedError(event.error ?? event);
      default:
        yield* this.#grow(type, event);
    }
  }

  *#identify(response: ResponseObject): Generator<Delta> {
    if (this.#hasResponse || !response.id) return;
    this.#hasResponse = true;
    const { id, model } = response;
    yield { type: "response", id, ...(model && { model }) };
  }

  /** Handles incremental events of an item. Unknown events are ignored. */
  *#grow(type: string, event: ResponsesEvent): Generator<Delta> {
    const delta = asText(event.delta);
    switch (type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        if (delta) yield* this.#say(this.#items.find(event, messageItem), event, delta);
        return;
      case "response.output_text.done":
      case "response.refusal.done":
        yield* this.#complete(event, asText(event.text ?? event.refusal));
        return;
      case "response.content_part.done":
        if (event.part?.type !== "reasoning_text") {
          yield* this.#complete(event, asText(event.part?.text ?? event.part?.refusal));
        }
        return;
      case "response.reasoning_summary_text.done":
      case "response.reasoning_text.done": {
        const item = this.#items.find(event, reasoningItem);
        // Only if no piece of it has arrived.
        if (item.partsSeen < Math.max(item.partCount, 1))
          yield* this.#think(item, asText(event.text));
        return;
      }
      case "response.reasoning_summary_part.added":
        this.#items.find(event, reasoningItem).partCount++;
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        yield* this.#think(this.#items.find(event, reasoningItem), delta);
        return;
      case "response.function_call_arguments.delta": {
        const { key } = this.#items.find(event, callItem);
        const piece = asJson(event.delta);
        if (piece !== "") yield { type: "tool_call", key, arguments: piece };
        return;
      }
      case "response.function_call_arguments.done":
        // Some servers send the arguments only here; with others, the end of the item repeats them.
        this.#items.find(event, callItem).arguments = asJson(event.arguments) || undefined;
        return;
      default:
    }
  }

  *#say(item: Item, { content_index }: ResponsesEvent, text: string): Generator<Delta> {
    const index = content_index ?? 0;
    item.parts.set(index, `${item.parts.get(index) ?? ""}${text}`);
    yield { type: "text", key: item.key, text };
  }

  /** The text of a part is complete. If it extends the pieces received so far, the missing rest is emitted. */
  *#complete(event: ResponsesEvent, text: string): Generator<Delta> {
    if (text === "") return;
    const item = this.#items.find(event, messageItem);
    const said = item.parts.get(event.content_index ?? 0) ?? "";
    const isLast = (event.content_index ?? 0) >= Math.max(0, ...item.parts.keys());
    if (isLast && text.length > said.length && text.startsWith(said)) {
      yield* this.#say(item, event, text.slice(said.length));
    }
  }

  *#think(item: Item, text: string): Generator<Delta> {
    if (text === "") return;
    // Separates the parts of a summary with a blank line.
    const isNextPart = item.partCount > 1 && item.partsSeen < item.partCount && item.partsSeen > 0;
    item.partsSeen = Math.max(item.partCount, 1);
    item.hasText = true;
    yield { type: "thinking", key: item.key, text: isNextPart ? `\n\n${text}` : text };
  }

  *#start(item: Item, data: OutputItem): Generator<Delta> {
    if (data.type === "reasoning") {
      yield { type: "thinking", key: item.key, text: "" };
    } else if (data.type === "message") {
      yield { type: "text", key: item.key, text: "" };
    } else if (data.type === "function_call") {
      yield* startCall(item, data);
      const piece = item.hasArguments ? "" : asJson(data.arguments);
      item.hasArguments ||= piece !== "";
      if (piece !== "") yield { type: "tool_call", key: item.key, arguments: piece };
    }
  }

  *#finish(item: Item, data: OutputItem): Generator<Delta> {
    if (item.isFinished) return;
    item.isFinished = true;
    const { key } = item;
    if (data.type === "message") {
      const parts = asList(data.content);
      const text = parts.map((part) => asText(part.text ?? part.refusal)).join("");
      const id = asId(data.id);
      if (id !== undefined) {
        yield { type: "text", key, text: "" };
        yield { type: "signature", key, signature: writeTextSignature(id, data.phase) };
      }
      yield text === "" ? { type: "block_end", key } : { type: "block_end", key, text };
    } else if (data.type === "function_call") {
      yield* startCall(item, data);
      // A reply is incomplete if its only call cannot be run.
      if (!item.hasName) yield { type: "tool_call", key };
      const whole = asJson(data.arguments) || item.arguments;
      yield { type: "block_end", key, ...(whole && { arguments: whole }) };
    } else if (data.type === "reasoning") {
      yield* finishReasoning(item, data);
    }
  }

  *#end(type: string, response: ResponseObject): Generator<Delta> {
    const output = asList(response.output);
    for (const [index, data] of output.entries()) {
      const item = this.#items.find({ output_index: index, item_id: data.id ?? null }, data);
      // Adds encrypted content that arrived after the end of its item.
      const isLate = data.type === "reasoning" && item.isFinished && data.encrypted_content;
      if (isLate) yield sign(item, data);
      else yield* this.#finish(item, data);
    }
    // Some servers send the arguments of a call, but neither its end nor the output.
    for (const { key, arguments: whole } of this.#items.unfinished) {
      if (whole !== undefined) yield { type: "block_end", key, arguments: whole };
    }
    if (response.usage) yield readUsage(asObject(response.usage), response.service_tier);
    yield stopOf(type, response);
  }
}

const messageItem: OutputItem = { type: "message" };
const reasoningItem: OutputItem = { type: "reasoning" };
const callItem: OutputItem = { type: "function_call" };

function* startCall(item: Item, data: OutputItem): Generator<Delta> {
  const name = asId(data.name);
  if (item.hasName || name === undefined) return;
  item.hasName = true;
  const id = [asId(data.call_id), asId(data.id)].filter((part) => part !== undefined).join("|");
  yield { type: "tool_call", key: item.key, name, ...(id && { id }) };
}

function* finishReasoning(item: Item, data: OutputItem): Generator<Delta> {
  const summary = asList(data.summary);
  const parts = summary.length > 0 ? summary : asList(data.content);
  const text = parts.map((part) => asText(part.text)).join("\n\n");
  const isSigned = data.encrypted_content || text !== "" || item.hasText;
  yield { type: "thinking", key: item.key, text: item.hasText ? "" : text };
  if (isSigned) yield sign(item, data);
  yield { type: "block_end", key: item.key };
}

/** The whole item has to be sent back. */
function sign({ key }: Item, data: OutputItem): Delta {
  return { type: "signature", key, signature: jsonText(data) };
}

function readUsage(usage: ResponsesUsage, serviceTier: string | null | undefined): Delta {
  const details = asObject(usage.input_tokens_details);
  const prompt = asCount(usage.input_tokens) ?? 0;
  const output = asCount(usage.output_tokens) ?? 0;
  const cacheRead = asCount(details.cached_tokens) ?? 0;
  const cacheWrite = asCount(details.cache_write_tokens) ?? 0;
  const reasoning = asCount(asObject(usage.output_tokens_details).reasoning_tokens);
  const costTotal = readVendorCost(usage);
  return {
    type: "usage",
    tokens: {
      input: Math.max(0, prompt - cacheRead - cacheWrite),
      output,
      cacheRead,
      cacheWrite,
      ...(reasoning !== undefined && { reasoning }),
      totalTokens: asCount(usage.total_tokens) ?? prompt + output,
    },
    ...(costTotal !== undefined && { costTotal }),
    ...(serviceTier && { serviceTier }),
  };
}

function stopOf(type: string, response: ResponseObject): Stop {
  const status = response.status ?? type.replace("response.", "");
  const reason = response.incomplete_details?.reason;
  if (status === "completed" || status === "done") {
    return { type: "stop", reason: "stop" };
  }
  if (status === "incomplete" && reason === "content_filter") {
    return {
      type: "stop",
      reason: "error",
      raw: reason,
      code: "content_filtered",
      errorMessage: "The provider's content filter stopped the reply (content_filter)",
    };
  }
  if (status === "incomplete") return { type: "stop", reason: "length" };
  if (response.error) throw streamedError(response.error);
  return {
    type: "stop",
    reason: "error",
    raw: status,
    errorMessage: `The provider ended the reply with status ${asReason(status)}`,
  };
}
