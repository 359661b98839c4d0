import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import type { Context, StreamOptions } from "../provider.ts";
import { isCopilot } from "./is-copilot.ts";

/** Copilot only answers known editors; the models of the catalogue set these headers. */
const editor: Readonly<Record<string, string>> = {
  "user-agent": "GitHubCopilotChat/0.35.0",
  "editor-version": "vscode/1.107.0",
  "editor-plugin-version": "copilot-chat/0.35.0",
  "copilot-integration-id": "vscode-chat",
};

/** The headers that Copilot requires with each request; undefined for models elsewhere. */
export function requestHeaders(
  model: Model,
  { messages }: Context,
  { initiator = initiatorOf(messages) }: StreamOptions,
): Record<string, string> | undefined {
  if (!isCopilot(model)) return undefined;
  const given = new Set(Object.keys(model.headers ?? {}).map((name) => name.toLowerCase()));
  const missing = Object.entries(editor).filter(([name]) => !given.has(name));
  return {
    ...Object.fromEntries(missing),
    "x-initiator": initiator,
    "openai-intent": "conversation-edits",
    ...(model.input.includes("image") && messages.some(hasImage)
      ? { "copilot-vision-request": "true" }
      : {}),
  };
}

/** Plans count the user's requests, not the agent's follow-up requests. */
function initiatorOf(messages: readonly LlmMessage[]): "user" | "agent" {
  return messages.at(-1)?.role === "user" ? "user" : "agent";
}

function hasImage(message: LlmMessage): boolean {
  if (message.role === "assistant" || typeof message.content === "string") return false;
  return message.content.some(({ type }) => type === "image");
}
