import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { AgentTool } from "../tools/tool.ts";

/**
 * Gives a call the name and the arguments of the tool it means, where the model used other ones. A
 * call that needs no change comes back as the same object.
 */
export type ResolveToolCall = (call: ToolCall, tools: readonly AgentTool[]) => ToolCall;

/** The calls of one reply with the names and arguments of the tools they mean. */
export class RealCalls {
  readonly #resolve: (call: ToolCall) => ToolCall;
  /** Calls that differ from what the model sent, by their place in the reply. */
  readonly #changed = new Map<number, ToolCall>();

  constructor(resolve: ResolveToolCall | undefined, tools: readonly AgentTool[]) {
    this.#resolve = resolve === undefined ? (call) => call : (call) => resolve(call, tools);
  }

  /** The event as everyone but the model sees it. Arguments are changed once they are complete. */
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
    if (event.type === "toolcall_start") return { ...event, toolName: changed.name, partial };
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
    for (const [index, { name, arguments: complete }] of this.#changed) {
      const block = content[index];
      if (block?.type !== "toolCall") continue;
      const isOpen = Object.keys(complete).length === 0;
      content[index] = { ...block, name, arguments: isOpen ? block.arguments : complete };
    }
    return { ...message, content };
  }
}
