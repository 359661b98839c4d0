import type {
  AgentMessage,
  BashExecutionMessage,
  LlmMessage,
  ToolResultMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { fencedContent, isFenced } from "../foreign-text/fence.ts";
import { withDocuments } from "./documents.ts";

export function toLlmMessages(messages: readonly AgentMessage[]): LlmMessage[] {
  return convertAll(messages, toLlmMessage);
}

/** Returns the text to add to a message in requests; undefined for most messages. */
type FindNote = (message: AgentMessage) => string | undefined;

/** Returns the line that replaces a result in requests; undefined for most results. */
type FindLine = (result: ToolResultMessage) => string | undefined;

/**
 * A {@link toLlmMessages} that returns the same object for the same message each time, so that a
 * request is recognised as a continuation of the previous one.
 */
export function createLlmConverter(
  noteOf: FindNote = () => undefined,
  lineOf: FindLine = () => undefined,
): typeof toLlmMessages {
  const known = new WeakMap<AgentMessage, LlmMessage>();
  const sent = rememberSent();
  const convert = (message: AgentMessage): LlmMessage | undefined => {
    const line = message.role === "toolResult" ? lineOf(message) : undefined;
    if (message.role === "toolResult" && line !== undefined) {
      const shown = known.get(message) ?? withLine(message, line);
      known.set(message, shown);
      return shown;
    }
    const note = noteOf(message);
    if (note === undefined && isLlmMessage(message)) return sent(message);
    const converted = known.get(message) ?? withNote(toLlmMessage(message), note);
    if (converted !== undefined) known.set(message, converted);
    return converted;
  };
  return (messages) => convertAll(messages, convert);
}

function rememberSent(): typeof asSent {
  const known = new WeakMap<LlmMessage, LlmMessage>();
  return (message) => {
    const found = known.get(message);
    if (found !== undefined) return found;
    const made = asSent(message);
    if (made !== message) known.set(message, made);
    return made;
  };
}

function withLine(result: ToolResultMessage, line: string): ToolResultMessage {
  return { ...result, content: [{ type: "text", text: line }] };
}

function withNote(
  message: LlmMessage | undefined,
  note: string | undefined,
): LlmMessage | undefined {
  if (message?.role !== "user" || note === undefined) return message;
  const { content } = message;
  return typeof content === "string"
    ? { ...message, content: `${content}\n\n${note}` }
    : { ...message, content: [...content, { type: "text", text: note }] };
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
