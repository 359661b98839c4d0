import type { AssistantMessageEvent, SessionEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";

const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export function reply(text: string, overrides: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "a",
    provider: "p",
    model: "m",
    usage,
    stopReason: "stop",
    timestamp: 1,
    ...overrides,
  };
}

type Update = Extract<SessionEvent, { type: "message_update" }>;

function update(message: AssistantMessage, step: object): Update {
  const assistantMessageEvent = { ...step, partial: message } as AssistantMessageEvent;
  return { type: "message_update", message, assistantMessageEvent };
}

/** The events of one text block, one per delta, with the growing message. */
export function textBlock(pieces: readonly string[], contentIndex = 0): Update[] {
  let text = "";
  const deltas = pieces.map((delta) => {
    text += delta;
    return update(reply(text), { type: "text_delta", contentIndex, delta });
  });
  return [
    update(reply(""), { type: "text_start", contentIndex }),
    ...deltas,
    update(reply(text), { type: "text_end", contentIndex, content: text }),
  ];
}
