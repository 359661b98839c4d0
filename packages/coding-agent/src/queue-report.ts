import type { Agent } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** Tells clients what waits in an agent's queues when that has changed. */
export class QueueReport {
  readonly #agent: Agent;
  readonly #emit: (event: SessionEvent) => void;
  #announcedSize = 0;

  constructor(agent: Agent, emit: (event: SessionEvent) => void) {
    this.#agent = agent;
    this.#emit = emit;
  }

  /** Announces both queues, unless as many messages wait as when they were last announced. */
  update(): void {
    const { steering, followUp } = this.#agent;
    const size = steering.size + followUp.size;
    if (size === this.#announcedSize) return;
    this.#announcedSize = size;
    this.#emit({
      type: "queue_update",
      steering: steering.messages.map(textOf),
      followUp: followUp.messages.map(textOf),
    });
  }

  /** Empties both queues. */
  clear(): void {
    this.#agent.steering.clear();
    this.#agent.followUp.clear();
    this.update();
  }
}

function textOf(message: AgentMessage): string {
  if (message.role !== "user") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
