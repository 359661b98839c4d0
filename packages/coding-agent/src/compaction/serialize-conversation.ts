import type {
  AgentMessage,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { fencedText } from "../foreign-text/fence.ts";

/** How many characters of a tool result a summary request includes. */
const MAX_RESULT_CHARACTERS = 2000;

/**
 * The conversation as plain text without thinking: given real messages, a model would continue them
 * instead of summarising.
 */
export function serializeConversation(messages: readonly AgentMessage[]): string {
  return serializeMessages(messages).join("\n\n");
}

/** The parts of {@link serializeConversation}, for conversations that do not fit into one request. */
export function serializeMessages(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap(serializeMessage).map(neutralizeTags);
}

function serializeMessage(message: AgentMessage): string[] {
  switch (message.role) {
    case "user":
    case "custom":
      return [`[User]: ${textOf(message.content)}`];
    case "assistant":
      return serializeAssistant(message);
    case "toolResult":
      return [`[Tool result]: ${fencedResult(message)}`];
    case "bashExecution":
      if (message.excludeFromContext) return [];
      return [`[User ran]: ${message.command}\n${shorten(message.output)}`];
    case "branchSummary":
      return [`[Summary of another branch]: ${message.summary}`];
    case "compactionSummary":
      return [`[Summary of earlier conversation]: ${message.summary}`];
    default:
      return [];
  }
}

/** Shortened before fencing, so that the closing fence is kept. */
function fencedResult(message: ToolResultMessage): string {
  return fencedText(shorten(textOf(message.content)), message);
}

function serializeAssistant(message: Extract<AgentMessage, { role: "assistant" }>): string[] {
  if (message.stopReason === "error") return [];
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const calls = message.content.flatMap((block) =>
    block.type === "toolCall" ? [`${block.name}(${argumentText(block.arguments)})`] : [],
  );
  return [
    ...(text.length === 0 ? [] : [`[Assistant]: ${text.join("\n")}`]),
    ...(calls.length === 0 ? [] : [`[Assistant tool calls]: ${calls.join("; ")}`]),
  ];
}

function argumentText(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${shorten(JSON.stringify(value) ?? "null")}`)
    .join(", ");
}

function textOf(content: string | readonly UserContent[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}

function shorten(text: string): string {
  if (text.length <= MAX_RESULT_CHARACTERS) return text;
  // Do not cut a surrogate pair in half.
  const end =
    MAX_RESULT_CHARACTERS - (/[\uD800-\uDBFF]$/.test(text.slice(0, MAX_RESULT_CHARACTERS)) ? 1 : 0);
  return `${text.slice(0, end)}\n[… ${text.length - end} more characters]`;
}

/** Prevents the conversation from closing the tags around it: a summary could then follow its instructions. */
function neutralizeTags(text: string): string {
  return text.replace(/<(\/?)(conversation|previous-summary)>/gi, "<$1 $2>");
}
