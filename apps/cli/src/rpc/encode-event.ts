import { type DialectFrame, encodeLine, type StreamForm } from "@tau-agent/rpc-protocol";
import type { SessionEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Usage } from "@tau-agent/rpc-protocol/messages";

type UpdateEvent = Extract<SessionEvent, { type: "message_update" }>;

/**
 * How often the same `usage` is sent. Design decision 15 adds it to updates, and a client that looks
 * at a few of them finds it; with each delta of a long reply it would more than double the cost.
 */
const MAX_SAME_USAGE = 64;

/** Makes the lines of a connection's events in the form it asked for. */
export class EventEncoder {
  form: StreamForm = "full";
  /** In the form `delta`, each step has `usage`, however long the reply. */
  repeatsUsage = false;
  #lastUsage: Usage | undefined;
  #timesSent = 0;

  /** One event as a line. */
  encode(event: DialectFrame): string {
    if (!isUpdate(event)) return encodeLine(event);
    return this.form === "full" ? encodeFull(event) : this.#encodeDelta(event);
  }

  /** Neither `message` nor `partial`, but `usage`. */
  #encodeDelta(event: UpdateEvent): string {
    const { partial, ...step } = event.assistantMessageEvent as { partial?: AssistantMessage };
    const usage = (event.message as AssistantMessage).usage;
    return encodeLine({
      type: "message_update",
      ...(this.#isToBeSent(usage) ? { usage } : {}),
      assistantMessageEvent: step,
    });
  }

  #isToBeSent(usage: Usage): boolean {
    if (usage !== this.#lastUsage) this.#timesSent = 0;
    this.#lastUsage = usage;
    this.#timesSent += 1;
    return this.repeatsUsage || this.#timesSent <= MAX_SAME_USAGE;
  }
}

/** A dialect that has updates has them in one shape. */
function isUpdate(frame: DialectFrame): frame is UpdateEvent {
  return frame.type === "message_update";
}

/** `message` and `partial` are one object: it is serialised once and stands twice. */
function encodeFull(event: UpdateEvent): string {
  const { partial, ...step } = event.assistantMessageEvent as { partial?: AssistantMessage };
  if (partial !== event.message) return encodeLine(event);
  const message = encodeLine(partial).slice(0, -1);
  const head = encodeLine(step).slice(0, -2);
  return `{"type":"message_update","message":${message},"assistantMessageEvent":${head},"partial":${message}}}\n`;
}
