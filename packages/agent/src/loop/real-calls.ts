import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { AgentTool } from "../tools/tool.ts";

/**
 * Replaces the name and arguments of a call with those of the tool that the model meant, if they differ.
 * Returns the same object for a call that needs no change.
 */
export type ResolveToolCall = (call: ToolCall, tools: readonly AgentTool[]) => ToolCall;

export interface RealCallsOptions {
  readonly tools: readonly AgentTool[];
  /** Returns an id for a call that no other call of the conversation has. */
  readonly uniqueId: (id: string) => string;
}

/** The calls of one reply with the names and arguments of the tools they mean, and with ids that are unique. */
export class RealCalls {
  readonly #resolve: (call: ToolCall) => ToolCall;
  /** Calls that differ from what the model sent, by index in the reply. */
  readonly #changed = new Map<number, ToolCall>();
  readonly #ids = new Map<string, string>();

  constructor(resolve: ResolveToolCall | undefined, { tools, uniqueId }: RealCallsOptions) {
    const idOf = (id: string): string => {
      const known = this.#ids.get(id) ?? uniqueId(id);
      this.#ids.set(id, known);
      return known;
    };
    this.#resolve = (call) => {
      const id = idOf(call.id);
      const real = resolve?.(call, tools) ?? call;
      return real.id === id ? real : { ...real, id };
    };
  }

  /**
   * The event with real names and arguments, for everyone but the model. Arguments are changed once they are complete.
   */
  event(event: AssistantMessageEvent): AssistantMessageEvent {
    if (event.type === "toolcall_start") {
      const call = event.partial.content[event.contentIndex];
      if (call?.type === "toolCall") this.#note(event.contentIndex, { ...call, arguments: {} });
    }
    if (event.type === "toolcall_end") this.#note(event.contentIndex, event.toolCall);
    if (this.#changed.size === 0 || !("partial" in event)) return event;
    const partial = this.#partial(event.partial);
    const changed = "contentIndex" in event ? this.#changed.get(event.contentIndex) : undefined;
    if (changed === undefined) return { ...event, partial };
    if (event.type === "toolcall_start") {
      return { ...event, id: changed.id, toolName: changed.name, partial };
    }
    if (event.type === "toolcall_end") return { ...event, toolCall: changed, partial };
    return { ...event, partial };
  }

  /** The complete reply as it is recorded. */
  message(message: AssistantMessage): AssistantMessage {
    const content = message.content.map((block) =>
      block.type === "toolCall" ? this.#resolve(block) : block,
    );
    const isSame = content.every((block, index) => block === message.content[index]);
    return isSame ? message : { ...message, content };
  }

  #note(index: number, call: ToolCall): void {
    const real = this.#resolve(call);
    if (real !== call) this.#changed.set(index, real);
  }

  #partial(message: AssistantMessage): AssistantMessage {
    const content = [...message.content];
    for (const [index, { id, name, arguments: complete }] of this.#changed) {
      const block = content[index];
      if (block?.type !== "toolCall") continue;
      const isOpen = Object.keys(complete).length === 0;
      content[index] = { ...block, id, name, arguments: isOpen ? block.arguments : complete };
    }
    return { ...message, content };
  }
}
