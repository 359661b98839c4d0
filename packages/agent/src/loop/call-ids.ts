import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * The ids that calls of a conversation have had, those before a compaction included. Some models and servers
 * use an id again; results, approvals and clients name a call by its id alone.
 */
export class CallIds {
  readonly #taken = new Set<string>();
  #messages: readonly AgentMessage[] = [];
  #readCount = 0;

  /** The id itself if no call of the conversation has it, else one that is free. */
  claim(id: string, messages: readonly AgentMessage[]): string {
    this.#read(messages);
    const [, call = "", item = ""] = /^([^|]*)(.*)$/s.exec(id) ?? [];
    let unique = id;
    // 40 is the shortest limit known. An OpenAI id is `call|item`.
    for (let count = 2; this.#taken.has(unique); count++) {
      unique = `${call.slice(0, 32)}_${count}${item}`;
    }
    this.#taken.add(unique);
    return unique;
  }

  /** Reads what was added; a conversation that was replaced is another array. */
  #read(messages: readonly AgentMessage[]): void {
    if (messages !== this.#messages) this.#readCount = 0;
    this.#messages = messages;
    for (; this.#readCount < messages.length; this.#readCount++) {
      const message = messages[this.#readCount];
      if (message?.role !== "assistant") continue;
      for (const block of message.content) if (block.type === "toolCall") this.#taken.add(block.id);
    }
  }
}
