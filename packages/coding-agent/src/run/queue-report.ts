import type { Agent } from "@tau-agent/agent";
import type { InterruptMode, QueueItem, QueueMode, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { SettingsStore } from "../settings/store.ts";
import type { PromptOrigins } from "./prompt-origins.ts";

/** The queues of an agent and how they are delivered. */
export type AgentQueues = Pick<Agent, "steering" | "followUp" | "nextTurn" | "interruptMode">;

/** Tells clients what waits in an agent's queues when that has changed. */
export class QueueReport {
  readonly #agent: AgentQueues;
  readonly #origins: PromptOrigins;
  readonly #emit: (event: SessionEvent) => void;
  #announced: readonly AgentMessage[] = [];

  constructor(agent: AgentQueues, origins: PromptOrigins, emit: (event: SessionEvent) => void) {
    this.#agent = agent;
    this.#origins = origins;
    this.#emit = emit;
  }

  /** Announces the queues, unless the same messages wait as when they were last announced. */
  update(): void {
    const queued = queuesOf(this.#agent).flatMap(({ queue }) => queue.messages);
    const isSame = queued.every((message, index) => message === this.#announced[index]);
    if (isSame && queued.length === this.#announced.length) return;
    this.#announced = queued;
    this.#emit({ type: "queue_update", ...queuedTexts(this.#agent), items: this.#items() });
  }

  /** Takes one message out; undefined if none that waits has this id. */
  remove(itemId: string): { readonly text: string; readonly message: AgentMessage } | undefined {
    for (const { queue } of queuesOf(this.#agent)) {
      const message = queue.messages.find((each) => this.#origins.of(each)?.itemId === itemId);
      if (message === undefined) continue;
      queue.remove(message);
      this.update();
      return { text: textOf(message), message };
    }
    return undefined;
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

  /** Messages of extensions are not prompts. */
  #items(): QueueItem[] {
    return queuesOf(this.#agent).flatMap(({ kind, queue }) =>
      queue.messages.flatMap((message) => {
        const { promptId, itemId } = this.#origins.of(message) ?? {};
        if (promptId === undefined || itemId === undefined) return [];
        return [{ itemId, kind, text: textOf(message), promptId }];
      }),
    );
  }
}

function queuesOf({ steering, nextTurn, followUp }: AgentQueues) {
  return [
    { kind: "steer", queue: steering },
    { kind: "queue", queue: nextTurn },
    { kind: "followUp", queue: followUp },
  ] as const;
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
