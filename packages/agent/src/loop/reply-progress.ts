import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import type { FailureReason } from "./failed-reply.ts";

/** The part of a reply that has arrived, because a stream of an extension may throw in the middle of it. */
export class ReplyProgress {
  readonly #openCalls = new Set<number>();
  #partial: AssistantMessage | undefined;

  get hasStarted(): boolean {
    return this.#partial !== undefined;
  }

  add(event: AssistantMessageEvent): void {
    if (!("partial" in event)) return;
    this.#partial = event.partial;
    if (event.type === "toolcall_start") this.#openCalls.add(event.contentIndex);
    if (event.type === "toolcall_end") this.#openCalls.delete(event.contentIndex);
  }

  /** The reply if it ends here, without incomplete calls; undefined if it has not started. */
  endedBy(reason: FailureReason): AssistantMessage | undefined {
    if (this.#partial === undefined) return undefined;
    const content = this.#partial.content.filter((_, index) => !this.#openCalls.has(index));
    return { ...this.#partial, content, ...reason };
  }
}
