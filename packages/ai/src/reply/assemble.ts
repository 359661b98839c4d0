import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AssistantContent,
  AssistantMessage,
  Model,
  StopReason,
} from "@tau-agent/rpc-protocol/messages";
import { ProviderError, withoutSecrets } from "../errors.ts";
import { computeCost, serviceTierFactor, withVendorTotal } from "../models/cost.ts";
import type { BlockKey, Delta, TokenCounts } from "../provider.ts";
import { closeBlock, type OpenBlock, openBlock, settleToolCall } from "./assemble-block.ts";
import { judgeReply } from "./judge-reply.ts";
import { asCount, asId, asJson, asReason, asText } from "./odd-values.ts";

/** The final message of a reply, with the typed error if it failed. */
export interface StreamResult {
  readonly message: AssistantMessage;
  readonly error?: ProviderError | undefined;
}

/** The inputs of an assembly that are fixed in tests. */
export interface AssemblerOptions {
  /** Ms since the epoch; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Creates the id of a call that has none; by default `call_` and a UUID. */
  readonly createToolCallId?: (() => string) | undefined;
  /** Texts that an error must not contain. */
  readonly secrets?: readonly string[] | undefined;
}

type DeltaOf<Type extends Delta["type"]> = Extract<Delta, { type: Type }>;

/**
 * Turns the deltas of one reply into its events and its final message. A snapshot copies only the outer
 * objects and the changed block; the `arguments` of an unfinished call are shared between snapshots.
 */
export class Assembler {
  readonly #model: Model;
  readonly #createToolCallId: () => string;
  readonly #secrets: readonly string[];
  readonly #blocks = new Map<BlockKey, OpenBlock>();
  readonly #tokens: TokenCounts = {};
  readonly #callIds = new Set<string>();
  #message: AssistantMessage;
  #content: AssistantContent[] = [];
  /** The index at which the final reply begins, after a restart. */
  #firstIndex = 0;
  #events: AssistantMessageEvent[] = [];
  #stop: DeltaOf<"stop"> | undefined;
  #costTotal: number | undefined;
  #serviceTier: string | undefined;

  constructor(model: Model, options: AssemblerOptions = {}) {
    this.#model = model;
    this.#secrets = options.secrets ?? [];
    this.#createToolCallId =
      options.createToolCallId ?? (() => `call_${globalThis.crypto.randomUUID()}`);
    this.#message = {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: {
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 0,
        cost: computeCost(model.cost, {}),
      },
      stopReason: "stop",
      timestamp: (options.now ?? Date.now)(),
    };
  }

  /** Whether the vendor's terminal event has arrived. */
  get hasStopped(): boolean {
    return this.#stop !== undefined;
  }

  /** Whether any content of the reply has arrived. */
  get hasContent(): boolean {
    return this.#content.length > 0;
  }

  /** The first event of every reply. */
  start(): AssistantMessageEvent {
    return { type: "start", partial: this.#snapshot() };
  }

  /** Takes one delta and returns the resulting events. */
  push(delta: Delta): AssistantMessageEvent[] {
    this.#events = [];
    switch (delta.type) {
      case "response":
        this.#identify(delta);
        break;
      case "restart":
        this.#firstIndex = this.#content.length;
        this.#blocks.clear();
        break;
      case "text":
      case "thinking":
        this.#pushText(delta);
        break;
      case "tool_call":
        this.#pushToolCall(delta);
        break;
      case "signature":
        this.#sign(delta);
        break;
      case "block_end":
        this.#endBlock(delta);
        break;
      case "usage":
        this.#count(delta);
        break;
      case "stop":
        this.#stop = delta;
        break;
      default:
        delta satisfies never;
    }
    return this.#events;
  }

  /** Ends the reply after the vendor's stream has ended; without a terminal event, that is a failure. */
  finish(): { events: AssistantMessageEvent[]; result: StreamResult } {
    this.#events = [];
    if (this.#stop === undefined) {
      return this.fail(
        new ProviderError({
          code: "network",
          message: "The connection ended before the reply was complete",
        }),
      );
    }
    const { reason, errorMessage, code } = this.#stop;
    const raw = asReason(this.#stop.raw);
    if (raw !== undefined) this.#message.rawStopReason = raw;
    const nameless = [...this.#blocks.values()].some((block) => block.index === undefined);
    if (reason === "error" || reason === "aborted" || nameless) {
      const message = nameless
        ? "The reply holds a tool call without a name"
        : (errorMessage ?? `The model stopped with ${raw ?? "an error"}`);
      // A retry will probably produce a call with a name.
      const kind = code ?? (nameless ? "overloaded" : "unknown");
      return this.fail(new ProviderError({ code: kind, message }));
    }
    for (const [key] of this.#blocks) this.#endBlock({ type: "block_end", key });
    this.#dropVoid();
    const final = settledReason(reason, this.#content);
    const failure = judgeReply(final, this.#content, this.#message.usage, this.#model);
    if (failure !== undefined) return this.fail(failure);
    const message = this.#finalMessage(final);
    this.#add({ type: "done", reason: final, message });
    return { events: this.#events, result: { message } };
  }

  /** Ends the reply with a failure; code `aborted` means that the user aborted. */
  fail(given: ProviderError): { events: AssistantMessageEvent[]; result: StreamResult } {
    const error = withoutSecrets(given, this.#secrets);
    const reason = error.code === "aborted" ? "aborted" : "error";
    this.#dropUnfinishedCalls();
    this.#dropVoid();
    this.#message.errorMessage = error.message;
    const message = this.#finalMessage(reason);
    return { events: [{ type: "error", reason, error: message }], result: { message, error } };
  }

  #identify(delta: DeltaOf<"response">): void {
    const id = asId(delta.id);
    const model = asId(delta.model);
    if (id !== undefined) this.#message.responseId = id;
    if (model !== undefined && model !== this.#model.id) this.#message.responseModel = model;
  }

  #pushText(delta: DeltaOf<"text"> | DeltaOf<"thinking">): void {
    const { key, type } = delta;
    const text = asText(delta.text);
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = openBlock(type);
      this.#blocks.set(key, block);
      const content: AssistantContent =
        type === "text"
          ? { type, text: "" }
          : { type, thinking: "", ...(delta.redacted === true && { redacted: true }) };
      const contentIndex = this.#append(block, content);
      this.#add({ type: `${type}_start`, contentIndex, partial: this.#snapshot() });
    }
    if (block.type === type && !block.hasEnded) this.#appendText(block, text);
  }

  #appendText(block: OpenBlock, text: string): void {
    const { index: contentIndex } = block;
    const content = contentIndex === undefined ? undefined : this.#content[contentIndex];
    if (contentIndex === undefined || content === undefined || text === "") return;
    block.raw += text;
    if (content.type === "text") {
      this.#content[contentIndex] = { ...content, text: block.raw };
      const partial = this.#snapshot();
      this.#add({ type: "text_delta", contentIndex, delta: text, partial });
    } else if (content.type === "thinking") {
      this.#content[contentIndex] = { ...content, thinking: block.raw };
      const partial = this.#snapshot();
      this.#add({ type: "thinking_delta", contentIndex, delta: text, partial });
    }
  }

  #pushToolCall(delta: DeltaOf<"tool_call">): void {
    let block = this.#blocks.get(delta.key);
    if (block === undefined) {
      block = openBlock("tool_call");
      this.#blocks.set(delta.key, block);
    }
    if (block.type !== "tool_call" || block.hasEnded) return;
    if (block.index === undefined) {
      block.id = asId(delta.id) ?? block.id;
      block.name = asId(delta.name) ?? block.name;
    }
    if (block.name !== undefined && block.index === undefined) this.#startToolCall(block);
    const piece = asJson(delta.arguments);
    if (piece !== "") this.#appendArguments(block, piece);
  }

  /** A call is shown once its name is known; earlier arguments then become one delta. */
  #startToolCall(block: OpenBlock): void {
    const { name: toolName = "", signature, held } = block;
    // A result refers to its call by id, so no two calls may share one.
    const isFree = block.id !== undefined && !this.#callIds.has(block.id);
    const id = isFree && block.id !== undefined ? block.id : this.#createToolCallId();
    this.#callIds.add(id);
    const contentIndex = this.#append(block, {
      type: "toolCall",
      id,
      name: toolName,
      arguments: {},
      ...(signature !== undefined && { thoughtSignature: signature }),
    });
    const partial = this.#snapshot();
    this.#add({ type: "toolcall_start", id, toolName, contentIndex, partial });
    block.held = "";
    if (held !== "") this.#appendArguments(block, held);
  }

  #appendArguments(block: OpenBlock, delta: string): void {
    const { index: contentIndex } = block;
    if (contentIndex === undefined) {
      block.held += delta;
      return;
    }
    block.raw += delta;
    block.json.feed(delta);
    const content = this.#content[contentIndex];
    if (content?.type !== "toolCall") return;
    this.#content[contentIndex] = { ...content, arguments: block.liveArguments() };
    this.#add({ type: "toolcall_delta", contentIndex, delta, partial: this.#snapshot() });
  }

  #sign(delta: DeltaOf<"signature">): void {
    const block = this.#blocks.get(delta.key);
    if (block === undefined) return;
    const piece = asText(delta.signature);
    const signature = delta.append ? (block.signature ?? "") + piece : piece;
    block.signature = signature;
    const content = block.index === undefined ? undefined : this.#content[block.index];
    if (block.index === undefined || content === undefined) return;
    this.#content[block.index] =
      content.type === "text"
        ? { ...content, textSignature: signature }
        : content.type === "thinking"
          ? { ...content, thinkingSignature: signature }
          : { ...content, thoughtSignature: signature };
  }

  #endBlock(delta: DeltaOf<"block_end">): void {
    if (delta.text !== undefined && !this.#blocks.has(delta.key)) {
      this.#pushText({ type: "text", key: delta.key, text: "" });
    }
    const block = this.#blocks.get(delta.key);
    if (block === undefined || block.hasEnded || block.index === undefined) return;
    const repeated = block.type === "tool_call" ? delta.arguments : delta.text;
    const whole = repeated === undefined ? undefined : asJson(repeated);
    if (whole?.startsWith(block.raw) && whole.length > block.raw.length) {
      const missing = whole.slice(block.raw.length);
      if (block.type === "tool_call") this.#appendArguments(block, missing);
      else this.#appendText(block, missing);
    }
    const content = this.#content[block.index];
    if (content === undefined) return;
    const settled = closeBlock(block, content, block.type === "tool_call" ? whole : undefined);
    this.#content[block.index] = settled;
    const at = { contentIndex: block.index, partial: this.#snapshot() };
    if (settled.type === "text") {
      this.#add({ type: "text_end", content: settled.text, ...at });
    } else if (settled.type === "thinking") {
      this.#add({ type: "thinking_end", content: settled.thinking, ...at });
    } else {
      this.#add({ type: "toolcall_end", toolCall: settled, ...at });
    }
  }

  #count(delta: DeltaOf<"usage">): void {
    const counts = Object.entries(delta.tokens).map(([name, count]) => [name, asCount(count)]);
    const known = counts.filter(([, count]) => count !== undefined);
    const tokens: TokenCounts = Object.assign(this.#tokens, Object.fromEntries(known));
    this.#costTotal = asCount(delta.costTotal) ?? this.#costTotal;
    this.#serviceTier = asId(delta.serviceTier) ?? this.#serviceTier;
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = tokens;
    const factor = serviceTierFactor(this.#model, this.#serviceTier);
    const estimate = computeCost(this.#model.cost, tokens, factor);
    this.#message.usage = {
      input,
      output,
      cacheRead,
      cacheWrite,
      totalTokens: tokens.totalTokens ?? input + output + cacheRead + cacheWrite,
      ...(tokens.reasoning !== undefined && { reasoning: tokens.reasoning }),
      ...(tokens.cacheWrite1h !== undefined && { cacheWrite1h: tokens.cacheWrite1h }),
      cost: this.#costTotal === undefined ? estimate : withVendorTotal(estimate, this.#costTotal),
    };
  }

  /** An array created with one event needs no spare capacity, and most deltas cause one event. */
  #add(event: AssistantMessageEvent): void {
    if (this.#events.length === 0) this.#events = [event];
    else this.#events.push(event);
  }

  #append(block: OpenBlock, content: AssistantContent): number {
    block.index = this.#content.length;
    this.#content.push(content);
    return block.index;
  }

  /** A call that was cut off must not be run or replayed; one with complete arguments is kept. */
  #dropUnfinishedCalls(): void {
    const dropped = new Set<number>();
    for (const block of this.#blocks.values()) {
      if (block.type !== "tool_call" || block.index === undefined || block.hasEnded) continue;
      const content = this.#content[block.index];
      if (content?.type === "toolCall" && block.json.isComplete) {
        this.#content[block.index] = settleToolCall(block, content);
      } else {
        dropped.add(block.index);
      }
    }
    this.#content = this.#content.filter((_, index) => !dropped.has(index));
  }

  /** Drops the content from before a restart. */
  #dropVoid(): void {
    this.#content = this.#content.slice(this.#firstIndex);
    this.#firstIndex = 0;
  }

  #finalMessage(stopReason: StopReason): AssistantMessage {
    return { ...this.#message, content: [...this.#content], stopReason };
  }

  #snapshot(): AssistantMessage {
    return { ...this.#message, content: [...this.#content] };
  }
}

/** A reply with complete calls is a tool use, and one without is not, whatever the vendor says. */
function settledReason(
  reason: "stop" | "length" | "toolUse",
  content: readonly AssistantContent[],
): "stop" | "length" | "toolUse" {
  if (reason === "length") return reason;
  return content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
}
