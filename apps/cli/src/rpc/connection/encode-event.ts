import { type DialectFrame, encodeLine, type StreamForm } from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent, SessionEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantContent, AssistantMessage, Usage } from "@tau-agent/rpc-protocol/messages";

type UpdateEvent = Extract<SessionEvent, { type: "message_update" }>;

/**
 * How many times the same `usage` is sent. Design decision 15 adds it to updates, and a client that looks at
 * a few updates finds it. Repeating it with each delta of a long reply would more than double the size.
 */
const MAX_SAME_USAGE = 32;

export class EventEncoder {
  form: StreamForm = "full";
  /** In the form `delta`, each step has `usage`, however long the reply is. */
  repeatsUsage = false;
  #lastUsage: Usage | undefined;
  #timesSent = 0;

  /** @param order - members that follow the event's own: its place among the frames */
  encode(event: DialectFrame, order: object = {}): string {
    if (!isUpdate(event)) return encodeLine({ ...event, ...order });
    return this.form === "full" ? encodeFull(event, order) : this.#encodeDelta(event, order);
  }

  /** Sends `usage` instead of `message` and `partial`. */
  #encodeDelta(event: UpdateEvent, order: object): string {
    const { usage } = event.message as AssistantMessage;
    const first: object = {
      type: event.type,
      usage: this.#isToBeSent(usage) ? usage : undefined,
    };
    // Sets members to undefined, which JSON omits, because removing them takes several times as long.
    const step = { ...streamedStep(event.assistantMessageEvent), partial: undefined };
    const own = { ...event, message: undefined, assistantMessageEvent: step };
    return encodeLine({ ...first, ...own, ...order });
  }

  #isToBeSent(usage: Usage): boolean {
    if (usage !== this.#lastUsage) this.#timesSent = 0;
    this.#lastUsage = usage;
    this.#timesSent += 1;
    return this.repeatsUsage || this.#timesSent <= MAX_SAME_USAGE;
  }
}

/** Updates have the same shape in every dialect that has them. */
function isUpdate(frame: DialectFrame): frame is UpdateEvent {
  return frame.type === "message_update";
}

/** `message` and `partial` are the same object, so it is serialised once and written twice. */
function encodeFull(event: UpdateEvent, order: object): string {
  const { type, message: reply, assistantMessageEvent, ...more } = event;
  const { partial, ...step } = streamedStep(assistantMessageEvent);
  const message = encodeLine(streamedMessage(reply as AssistantMessage)).slice(0, -1);
  const shown =
    partial === undefined || partial === reply
      ? message
      : encodeLine(streamedMessage(partial)).slice(0, -1);
  const head = encodeLine(step).slice(0, -2);
  // The members after the step, without the opening brace.
  const rest = encodeLine({ ...more, ...order }).slice(1);
  const end = rest === "}\n" ? rest : `,${rest}`;
  return `{"type":"${type}","message":${message},"assistantMessageEvent":${head},"partial":${shown}}${end}`;
}

/**
 * The message as the steps of a reply produce it. Everything else, such as signatures, is sent with
 * `message_end`, so a growing reply looks the same whether it is sent whole or rebuilt from steps.
 */
function streamedMessage(message: AssistantMessage): AssistantMessage {
  const { responseId: _id, responseModel: _model, ...streamed } = message;
  return { ...streamed, content: message.content.map(streamedBlock) };
}

function streamedBlock(block: AssistantContent): AssistantContent {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.thinking };
    case "toolCall": {
      const { thoughtSignature: _, ...call } = block;
      return call;
    }
    default:
      return block;
  }
}

function streamedStep(event: AssistantMessageEvent): { partial?: AssistantMessage } {
  if (event.type !== "toolcall_end") return event as { partial?: AssistantMessage };
  const { thoughtSignature: _, ...toolCall } = event.toolCall;
  return { ...event, toolCall } as { partial?: AssistantMessage };
}
