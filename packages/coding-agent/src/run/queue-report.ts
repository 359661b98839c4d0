import type { QueueItem, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { type AgentQueues, queuedTexts, queuesOf, textOfQueued } from "./agent-queues.ts";
import type { PromptOrigins } from "./prompt-origins.ts";

/** Reports an agent's queues to clients when they have changed. */
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

  /** Announces the queues, unless they are the same as in the last announcement. */
  update(): void {
    const queued = queuesOf(this.#agent).flatMap(({ queue }) => queue.messages);
    const isSame = queued.every((message, index) => message === this.#announced[index]);
    if (isSame && queued.length === this.#announced.length) return;
    this.#announced = queued;
    this.#emit({ type: "queue_update", ...queuedTexts(this.#agent), items: this.#items() });
  }

  /** Removes a message; undefined if no queued message has this id. */
  remove(itemId: string): { readonly text: string; readonly message: AgentMessage } | undefined {
    for (const { queue } of queuesOf(this.#agent)) {
      const message = queue.messages.find((each) => this.#origins.of(each)?.itemId === itemId);
      if (message === undefined) continue;
      queue.remove(message);
      this.update();
      return { text: textOfQueued(message), message };
    }
    return undefined;
  }

  /** Empties all queues and returns their messages. */
  clear(): { texts: { steering: string[]; followUp: string[] }; messages: AgentMessage[] } {
    const steering = this.#agent.steering.clear();
    const followUp = [...this.#agent.nextTurn.clear(), ...this.#agent.followUp.clear()];
    this.update();
    return {
      texts: { steering: steering.map(textOfQueued), followUp: followUp.map(textOfQueued) },
      messages: [...steering, ...followUp],
    };
  }

  /** Messages from extensions are not prompts. */
  #items(): QueueItem[] {
    return queuesOf(this.#agent).flatMap(({ kind, queue }) =>
      queue.messages.flatMap((message) => {
        const { promptId, itemId } = this.#origins.of(message) ?? {};
        if (promptId === undefined || itemId === undefined) return [];
        return [{ itemId, kind, text: textOfQueued(message), promptId }];
      }),
    );
  }
}
