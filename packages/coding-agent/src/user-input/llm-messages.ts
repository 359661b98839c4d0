import type {
  AgentMessage,
  BashExecutionMessage,
  LlmMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { fencedContent, isFenced } from "../foreign-text/fence.ts";
import { withDocuments } from "./documents.ts";

export function toLlmMessages(messages: readonly AgentMessage[]): LlmMessage[] {
  return convertAll(messages, toLlmMessage);
}

/**
 * Finds the text that requests show with a message: the line in place of a tool result, the note after any other
 * message. Undefined for most messages.
 */
export type FindText = (message: AgentMessage) => string | undefined;

/**
 * A {@link toLlmMessages} that returns the same object for the same message each time, so that a
 * request is recognised as a continuation of the previous one.
 *
 * @param begin - called for each request
 */
export function createLlmConverter(begin: () => FindText): typeof toLlmMessages {
  const plain = new WeakMap<AgentMessage, LlmMessage>();
  const changed = new WeakMap<AgentMessage, LlmMessage>();
  return (messages) => {
    const textOf = begin();
    return convertAll(messages, (message) => {
      if (message.role === "assistant") return message;
      const text = textOf(message);
      if (text !== undefined) return remembered(changed, message, () => withText(message, text));
      return isSentAsIs(message) ? message : remembered(plain, message, toLlmMessage);
    });
  };
}

function remembered(
  known: WeakMap<AgentMessage, LlmMessage>,
  message: AgentMessage,
  convert: (message: AgentMessage) => LlmMessage | undefined,
): LlmMessage | undefined {
  const found = known.get(message);
  if (found !== undefined) return found;
  const made = convert(message);
  if (made !== undefined && made !== message) known.set(message, made);
  return made;
}

/** Whether {@link toLlmMessage} returns a message itself; false for some for which it does. */
function isSentAsIs(message: AgentMessage): message is LlmMessage {
  if (message.role === "user") return message.attachments === undefined;
  if (message.role === "toolResult") return message.details === undefined;
  return false;
}

function withText(message: AgentMessage, text: string): LlmMessage | undefined {
  const block = { type: "text", text } as const;
  if (message.role === "toolResult") return { ...message, content: [block] };
  const sent = toLlmMessage(message);
  if (sent?.role !== "user") return sent;
  const { content } = sent;
  return typeof content === "string"
    ? { ...sent, content: `${content}\n\n${text}` }
    : { ...sent, content: [...content, block] };
}

function convertAll(
  messages: readonly AgentMessage[],
  convert: (message: AgentMessage) => LlmMessage | undefined,
): LlmMessage[] {
  const result: LlmMessage[] = [];
  for (const message of messages) {
    const converted = convert(message);
    if (converted !== undefined) result.push(converted);
  }
  return result;
}

function isLlmMessage(message: AgentMessage): message is LlmMessage {
  const { role } = message;
  return role === "user" || role === "assistant" || role === "toolResult";
}

/** A message in the form that the model receives: with its documents, and foreign text in a fence. */
function asSent(message: LlmMessage): LlmMessage {
  const whole = withDocuments(message);
  if (whole.role !== "toolResult" || !isFenced(whole)) return whole;
  return { ...whole, content: [...fencedContent(whole)] };
}

function toLlmMessage(message: AgentMessage): LlmMessage | undefined {
  if (isLlmMessage(message)) return asSent(message);
  switch (message.role) {
    case "bashExecution":
      return message.excludeFromContext ? undefined : asUser(bashText(message), message);
    case "custom":
      return asUser(message.content, message);
    case "branchSummary":
      return asUser(
        `The conversation went down another branch before and came back. What happened there:\n\n<summary>\n${message.summary}\n</summary>`,
        message,
      );
    case "compactionSummary":
      return asUser(
        `Earlier parts of this conversation were replaced by this summary:\n\n<summary>\n${message.summary}\n</summary>`,
        message,
      );
    default:
      // Roles of later versions stay in the file, but a model cannot read them.
      return undefined;
  }
}

function asUser(
  content: UserMessage["content"],
  { timestamp }: { timestamp: number },
): UserMessage {
  return { role: "user", content, timestamp };
}

/** The documented form in which the model receives a client's shell commands. */
function bashText(message: BashExecutionMessage): string {
  let text = `Ran \`${message.command}\`\n`;
  text += message.output === "" ? "(no output)" : `\`\`\`\n${message.output}\n\`\`\``;
  if (message.cancelled) text += "\n\n(command cancelled)";
  else if (message.exitCode != null && message.exitCode !== 0) {
    text += `\n\nCommand exited with code ${message.exitCode}`;
  }
  if (message.truncated && message.fullOutputPath != null) {
    text += `\n\n[Output truncated. Full output: ${message.fullOutputPath}]`;
  }
  return text;
}
