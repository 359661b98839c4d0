import type { AssistantContent } from "@tau-agent/rpc-protocol/messages";
import type { Delta } from "../../provider.ts";
import { textsOf } from "./conversation.ts";
import { listOf, objectOf } from "./json.ts";
import { openaiCompletionsWire } from "./openai-completions.ts";
import { changedWriter, type WireFormat } from "./wire-format.ts";

/** The server side of Mistral's chat format: chat completions with thinking inside the content. */
export const mistralConversationsWire: WireFormat = {
  ...openaiCompletionsWire,
  api: "mistral-conversations",
  parse(body, path) {
    const plain = openaiCompletionsWire.parse(body, path);
    const replies = plain.messages.filter(({ role }) => role === "assistant");
    const sent = listOf(objectOf(body).messages).filter(({ role }) => role === "assistant");
    for (const [index, { content }] of sent.entries()) {
      const reply = replies[index];
      if (reply?.role === "assistant") reply.content.unshift(...thinkingOf(content));
    }
    return plain;
  },
  createWriter: (head) =>
    changedWriter(openaiCompletionsWire.createWriter(head), withThinkingInside),
  errorBody: (status, message, code) => ({
    object: "error",
    message,
    type: code ?? "invalid_request_error",
    code: String(status),
  }),
  overflow: {
    message:
      "Prompt contains 140000 tokens, too large for model with 131072 maximum context length",
    code: "invalid_request_error",
  },
};

function thinkingOf(content: unknown): AssistantContent[] {
  return listOf(content)
    .filter(({ type }) => type === "thinking")
    .map(({ thinking }) => ({
      type: "thinking",
      thinking: textsOf(listOf(thinking)),
    }));
}

function withThinkingInside(text: string, delta: Delta): string {
  if (delta.type !== "thinking") return text;
  const part = { type: "thinking", thinking: [{ type: "text", text: delta.text }] };
  const plain = `"reasoning_content":${JSON.stringify(delta.text)}`;
  // A replacement function, because `$` has a special meaning in a replacement string.
  return text.replace(plain, () => `"content":[${JSON.stringify(part)}]`);
}
