import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { changedInstructions, type PrefixWire, toolChanges } from "../request/setup.ts";

/** A message that adds tools, as defined by Moonshot. */
interface ToolsMessage {
  readonly role: "system";
  readonly tools: readonly ChatCompletionFunctionTool[];
}

export interface CompletionsShapes {
  readonly turn: ChatCompletionMessageParam;
  readonly change: ChatCompletionMessageParam | ToolsMessage;
  readonly tool: ChatCompletionFunctionTool;
  readonly effort: never;
}

/** Setup changes are messages between the others; the format cannot change the effort. */
export const completionsPrefixWire: PrefixWire<CompletionsShapes> = {
  nameOf: (tool) => tool.function.name,
  changes(_first, from, to) {
    const { added } = toolChanges<CompletionsShapes>(completionsPrefixWire, from, to);
    const messages: CompletionsShapes["change"][] = [];
    if (added.length > 0) messages.push({ role: "system", tools: added });
    if (from.system !== to.system) {
      const content = changedInstructions(to.system);
      messages.push(
        to.role === "developer" ? { role: to.role, content } : { role: "system", content },
      );
    }
    return messages;
  },
  effort: (effort) => effort,
  startsTurn: () => false,
  signaturesOf: () => [],
  withoutThinking: (turn) => turn,
};
