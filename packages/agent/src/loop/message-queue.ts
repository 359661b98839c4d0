import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** How a queue is emptied: one message at a time, or all at once. */
export type QueueMode = "all" | "one-at-a-time";

/** Messages that wait for delivery. They leave only at the moment they are injected. */
export class MessageQueue {
  mode: QueueMode;
  #messages: AgentMessage[] = [];

  constructor(mode: QueueMode = "one-at-a-time") {
    this.mode = mode;
  }

  /** The number of waiting messages. */
  get size(): number {
    return this.#messages.length;
  }

  /** The waiting messages, oldest first. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Adds a message at the end. */
  enqueue(message: AgentMessage): void {
    this.#messages.push(message);
  }

  /** Takes what may be delivered now: the oldest message or all of them, depending on the mode. */
  take(): AgentMessage[] {
    const count = this.mode === "all" ? this.#messages.length : 1;
    return this.#messages.splice(0, count);
  }

  /** Puts messages that could not be delivered back at the front. */
  putBack(messages: readonly AgentMessage[]): void {
    this.#messages = [...messages, ...this.#messages];
  }

  /** Removes one message, wherever it is in the queue. */
  remove(message: AgentMessage): void {
    this.#messages = this.#messages.filter((other) => other !== message);
  }

  /** Empties the queue and returns its messages. */
  clear(): AgentMessage[] {
    return this.#messages.splice(0);
  }
}
