import type { Agent } from "@tau-agent/agent";
import type { InterruptMode, QueueMode } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { SettingsStore } from "@tau-agent/system";

/** The queues of an agent and how they are delivered. */
export type AgentQueues = Pick<Agent, "steering" | "followUp" | "nextTurn" | "interruptMode">;

/** The queues in order of delivery, with their protocol names. */
export function queuesOf({ steering, nextTurn, followUp }: AgentQueues) {
  return [
    { kind: "steer", queue: steering },
    { kind: "queue", queue: nextTurn },
    { kind: "followUp", queue: followUp },
  ] as const;
}

export function queuedCount({ steering, followUp, nextTurn }: AgentQueues): number {
  return steering.size + followUp.size + nextTurn.size;
}

export function queuedTexts({ steering, followUp, nextTurn }: AgentQueues): {
  steering: string[];
  followUp: string[];
} {
  return {
    steering: steering.messages.map(textOfQueued),
    followUp: [...nextTurn.messages, ...followUp.messages].map(textOfQueued),
  };
}

/** The text of a queued message; empty for a message from an extension. */
export function textOfQueued(message: AgentMessage): string {
  if (message.role !== "user") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export function applyQueueSettings(agent: AgentQueues, settings: Pick<SettingsStore, "get">): void {
  agent.steering.mode = settings.get("steeringMode");
  agent.followUp.mode = settings.get("followUpMode");
  agent.nextTurn.mode = settings.get("queueMode");
  agent.interruptMode = settings.get("interruptMode");
}

/** How queued messages are delivered; absent members stay the same. */
export interface QueueModes {
  readonly steering?: QueueMode;
  readonly followUp?: QueueMode;
  readonly nextTurn?: QueueMode;
  readonly interrupt?: InterruptMode;
}

export function applyQueueModes(agent: AgentQueues, modes: QueueModes): void {
  agent.steering.mode = modes.steering ?? agent.steering.mode;
  agent.followUp.mode = modes.followUp ?? agent.followUp.mode;
  agent.nextTurn.mode = modes.nextTurn ?? agent.nextTurn.mode;
  agent.interruptMode = modes.interrupt ?? agent.interruptMode;
}
