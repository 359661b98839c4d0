import type { Agent } from "@tau-agent/agent";
import type { InterruptMode, QueueMode, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { SettingsStore } from "../settings/store.ts";

/** The queues of an agent and how they are delivered. */
export type AgentQueues = Pick<Agent, "steering" | "followUp" | "nextTurn" | "interruptMode">;

/** Tells clients what waits in an agent's queues when that has changed. */
export class QueueReport {
  readonly #agent: AgentQueues;
  readonly #emit: (event: SessionEvent) => void;
  #announcedSize = 0;

  constructor(agent: AgentQueues, emit: (event: SessionEvent) => void) {
    this.#agent = agent;
    this.#emit = emit;
  }

  /** Announces the queues, unless as many messages wait as when they were last announced. */
  update(): void {
    const size = queuedCount(this.#agent);
    if (size === this.#announcedSize) return;
    this.#announcedSize = size;
    this.#emit({ type: "queue_update", ...queuedTexts(this.#agent) });
  }

  /** Empties all queues and returns what waited in them. */
  clear(): { texts: { steering: string[]; followUp: string[] }; messages: AgentMessage[] } {
    const steering = this.#agent.steering.clear();
    const followUp = [...this.#agent.nextTurn.clear(), ...this.#agent.followUp.clear()];
    this.update();
    return {
      texts: { steering: steering.map(textOf), followUp: followUp.map(textOf) },
      messages: [...steering, ...followUp],
    };
  }
}

/** How many messages wait. */
export function queuedCount({ steering, followUp, nextTurn }: AgentQueues): number {
  return steering.size + followUp.size + nextTurn.size;
}

/** The texts of the messages that wait. */
export function queuedTexts({ steering, followUp, nextTurn }: AgentQueues): {
  steering: string[];
  followUp: string[];
} {
  return {
    steering: steering.messages.map(textOf),
    followUp: [...nextTurn.messages, ...followUp.messages].map(textOf),
  };
}

function textOf(message: AgentMessage): string {
  if (message.role !== "user") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Gives the queues the modes that the settings say. */
export function applyQueueSettings(agent: AgentQueues, settings: Pick<SettingsStore, "get">): void {
  agent.steering.mode = settings.get("steeringMode");
  agent.followUp.mode = settings.get("followUpMode");
  agent.nextTurn.mode = settings.get("queueMode");
  agent.interruptMode = settings.get("interruptMode");
}

/** How queued messages are delivered; what is left out stays as it is. */
export interface QueueModes {
  readonly steering?: QueueMode;
  readonly followUp?: QueueMode;
  readonly nextTurn?: QueueMode;
  readonly interrupt?: InterruptMode;
}

/** Gives the queues other modes. */
export function applyQueueModes(agent: AgentQueues, modes: QueueModes): void {
  agent.steering.mode = modes.steering ?? agent.steering.mode;
  agent.followUp.mode = modes.followUp ?? agent.followUp.mode;
  agent.nextTurn.mode = modes.nextTurn ?? agent.nextTurn.mode;
  agent.interruptMode = modes.interrupt ?? agent.interruptMode;
}
