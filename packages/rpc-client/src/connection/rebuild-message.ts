import { type EventOrder, PartialJson } from "@tau-agent/rpc-protocol";
import type { AgentEvent, AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantContent, AssistantMessage, Usage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { DeltaStep, DeltaUpdate } from "./host-frame.ts";

/** Blocks arrive in order; a larger index is not plausible. */
const MAX_GAP = 1_000;

export type MessageUpdate = Extract<AgentEvent, { type: "message_update" }> & Partial<EventOrder>;

/**
 * Rebuilds `message` and `partial` of a streamed reply from its steps, at a cost proportional to each step.
 * Every update gets a new message object. Unchanged blocks are shared, and the arguments of a streaming tool
 * call are one growing object.
 */
export class MessageRebuilder {
  #message: AssistantMessage = emptyMessage();
  #arguments = new Map<number, PartialJson>();

  start(message: AssistantMessage): void {
    this.#message = message;
    this.#arguments.clear();
  }

  /** Applies one step; undefined if this client does not know its type. */
  apply({ usage, step, order }: DeltaUpdate): MessageUpdate | undefined {
    if (usage) this.#message = { ...this.#message, usage };
    const event = this.#event(step);
    if (event === undefined) return undefined;
    const message = this.#message;
    return { type: "message_update", message, assistantMessageEvent: event, ...order };
  }

  #event(step: DeltaStep): AssistantMessageEvent | undefined {
    if (step.type === "start") return { type: "start", partial: this.#message };
    if (step.type === "done" || step.type === "error") return this.#finish(step);
    const { contentIndex } = step;
    const { length } = this.#message.content;
    if (!Number.isInteger(contentIndex)) return undefined;
    if (contentIndex < 0 || contentIndex > length + MAX_GAP) return undefined;
    const block = this.#nextBlock(step);
    if (block === undefined) return undefined;
    // Blocks start in order, so an existing one belongs to an earlier reply whose end was filtered out.
    const kept = step.type.endsWith("_start") ? contentIndex : length;
    const content = this.#message.content.slice(0, kept);
    while (content.length < contentIndex) content.push({ type: "text", text: "" });
    content[contentIndex] = block;
    this.#message = { ...this.#message, content };
    return stepEvent(step, this.#message);
  }

  #nextBlock(step: DeltaStep): AssistantContent | undefined {
    const block = this.#message.content[step.contentIndex];
    switch (step.type) {
      case "text_start":
        return { type: "text", text: "" };
      case "text_delta":
      case "text_end": {
        const before = block?.type === "text" ? block : { type: "text" as const, text: "" };
        return { ...before, text: step.content ?? before.text + step.delta };
      }
      case "thinking_start":
        return { type: "thinking", thinking: "" };
      case "thinking_delta":
      case "thinking_end": {
        const before =
          block?.type === "thinking" ? block : { type: "thinking" as const, thinking: "" };
        return { ...before, thinking: step.content ?? before.thinking + step.delta };
      }
      case "toolcall_start":
        this.#arguments.set(step.contentIndex, new PartialJson());
        return { type: "toolCall", id: step.id, name: step.toolName, arguments: {} };
      case "toolcall_delta":
        return this.#feedArguments(step, block);
      case "toolcall_end":
        this.#arguments.delete(step.contentIndex);
        return step.toolCall ?? block;
      default:
        return undefined;
    }
  }

  #feedArguments(
    step: DeltaStep,
    block: AssistantContent | undefined,
  ): AssistantContent | undefined {
    if (block?.type !== "toolCall") return undefined;
    const json = this.#arguments.get(step.contentIndex) ?? new PartialJson();
    this.#arguments.set(step.contentIndex, json);
    json.feed(step.delta);
    return isJsonObject(json.value) ? { ...block, arguments: json.value } : block;
  }

  #finish(step: DeltaStep): AssistantMessageEvent | undefined {
    const { reason, message } = step;
    if (reason === "stop" || reason === "length" || reason === "toolUse") {
      this.#message = message ?? { ...this.#message, stopReason: reason };
      return { type: "done", reason, message: this.#message };
    }
    if (reason === "aborted" || reason === "error") {
      this.#message = message ?? { ...this.#message, stopReason: reason };
      return { type: "error", reason, error: this.#message };
    }
    return undefined;
  }
}

function stepEvent(step: DeltaStep, partial: AssistantMessage): AssistantMessageEvent | undefined {
  const { contentIndex } = step;
  const at = { contentIndex, partial };
  switch (step.type) {
    case "text_start":
    case "thinking_start":
      return { type: step.type, ...at };
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      return { type: step.type, delta: step.delta, ...at };
    case "text_end":
    case "thinking_end":
      return { type: step.type, content: blockText(partial.content[contentIndex]), ...at };
    case "toolcall_start":
      return { type: "toolcall_start", id: step.id, toolName: step.toolName, ...at };
    case "toolcall_end": {
      const toolCall = partial.content[contentIndex];
      return toolCall?.type === "toolCall" ? { type: "toolcall_end", toolCall, ...at } : undefined;
    }
    default:
      return undefined;
  }
}

function blockText(block: AssistantContent | undefined): string {
  if (block?.type === "text") return block.text;
  return block?.type === "thinking" ? block.thinking : "";
}

function emptyMessage(): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost };
  return {
    role: "assistant",
    content: [],
    api: "",
    provider: "",
    model: "",
    usage,
    stopReason: "stop",
    timestamp: 0,
  };
}
