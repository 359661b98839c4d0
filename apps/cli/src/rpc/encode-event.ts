import { type DialectFrame, encodeLine, type StreamForm } from "@tau-agent/rpc-protocol";
import type { SessionEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Usage } from "@tau-agent/rpc-protocol/messages";

type UpdateEvent = Extract<SessionEvent, { type: "message_update" }>;

/** Makes the lines of a connection's events in the form it asked for. */
export class EventEncoder {
  form: StreamForm = "full";
  /** In the form `delta`, each step has `usage`. */
  repeatsUsage = false;
  #lastUsage: Usage | undefined;

  /** One event as a line. */
  encode(event: DialectFrame): string {
    if (!isUpdate(event)) return encodeLine(event);
    return this.form === "full" ? encodeFull(event) : this.#encodeDelta(event);
  }

  /** Neither `message` nor `partial`; `usage` when it has changed. */
  #encodeDelta(event: UpdateEvent): string {
    const { partial, ...step } = event.assistantMessageEvent as { partial?: AssistantMessage };
    const usage = (event.message as AssistantMessage).usage;
    const isNew = this.repeatsUsage || usage !== this.#lastUsage;
    this.#lastUsage = usage;
    return encodeLine({
      type: "message_update",
      ...(isNew ? { usage } : {}),
      assistantMessageEvent: step,
    });
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
