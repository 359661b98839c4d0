import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * The ids of all calls in a conversation, including those before a compaction. Some models and servers reuse
 * ids, but results, approvals and clients identify a call by its id alone.
 */
export class CallIds {
  readonly #taken = new Set<string>();
  #messages: readonly AgentMessage[] = [];
  #readCount = 0;

  /** Returns the id itself if no call of the conversation has it, otherwise a free one. */
  claim(id: string, messages: readonly AgentMessage[]): string {
    this.#read(messages);
    let unique = id;
    for (let count = 2; this.#taken.has(unique); count++) unique = numbered(id, count);
    this.#taken.add(unique);
    return unique;
  }

  /** Reads the messages that were added; a replaced conversation is a different array. */
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

/** 40 characters is the shortest known limit. An OpenAI id has the form `call|item`. */
function numbered(id: string, count: number): string {
  const [, call = "", item = ""] = /^([^|]*)(.*)$/s.exec(id) ?? [];
  return `${call.slice(0, 32)}_${count}${item}`;
}
