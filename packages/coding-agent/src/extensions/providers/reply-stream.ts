import { type AssistantStream, emptyUsage } from "@tau-agent/ai";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { reasonOf } from "../api/errors.ts";
import { AssistantMessageEventStream } from "./event-stream.ts";

/** A reply in pi's format, to iterate or await; failures become an error event. */
export function replyStream(
  model: Model,
  open: () => AssistantStream | Promise<AssistantStream>,
): AssistantMessageEventStream {
  const replies = new AssistantMessageEventStream();
  const forward = async (): Promise<void> => {
    const steps = await open();
    for (;;) {
      const step = await steps.next();
      if (step.done) return replies.end(step.value.message);
      replies.push(step.value);
    }
  };
  forward().catch((cause: unknown) => {
    const error = { ...emptyReply(model), errorMessage: reasonOf(cause) };
    replies.push({ type: "error", reason: "error", error });
  });
  return replies;
}

export function emptyReply({ api, provider, id }: Model): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api,
    provider,
    model: id,
    usage: emptyUsage(),
    stopReason: "error",
    timestamp: Date.now(),
  };
}
