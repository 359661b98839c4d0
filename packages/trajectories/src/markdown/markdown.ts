import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  AssistantMessage,
  ToolCall,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { messageOf } from "@tau-agent/sessions/log";
import type { TrajectorySource } from "../trajectory-source.ts";
import { closeFences, details, fenced, inline, quoted, textOf } from "./blocks.ts";

/**
 * The current branch as Markdown for people: messages verbatim, calls and results as code blocks.
 *
 * @throws {SessionError} `nothing_to_export`
 */
export async function* markdownPieces(source: TrajectorySource): AsyncGenerator<string> {
  const { header, branch, name, costUsd = 0, otherEntries } = source;
  const hasConversation = branch.some((entry) => messageOf(entry) !== undefined);
  if (!hasConversation) throw new SessionError("nothing_to_export");
  const facts = [
    `Session ${inline(header.id)}`,
    `in ${inline(header.cwd)}`,
    `from ${inline(header.timestamp)}`,
    ...(costUsd > 0 ? [`$${costUsd.toFixed(4)}`] : []),
  ];
  yield `# ${name === undefined ? "Session" : oneLine(name)}\n\n${facts.join(" · ")}\n`;
  if (otherEntries > 0) yield `\n_${otherEntries} entries on other branches left out._\n`;
  const calls = new Map<string, ToolCall>();
  for (const entry of branch) {
    const text = entryText(entry, calls);
    if (text !== "") yield `\n${text.trimEnd()}\n`;
  }
}

function entryText(entry: SessionEntry, calls: Map<string, ToolCall>): string {
  const known = entry as KnownSessionEntry;
  switch (known.type) {
    case "model_change":
      return `_Model: ${inline(`${known.provider}/${known.modelId}`)}_`;
    case "compaction":
      return `_The conversation so far became this summary:_\n\n${quoted(known.summary)}`;
    case "label":
      return known.label === undefined ? "" : `_Label: ${oneLine(known.label)}_`;
    default: {
      const message = messageOf(entry);
      return message === undefined ? "" : messageText(message, calls);
    }
  }
}

function messageText(message: AgentMessage, calls: Map<string, ToolCall>): string {
  switch (message.role) {
    case "user": {
      const files = message.attachments?.map(({ fileName }) => `\n\n_File: ${inline(fileName)}_`);
      return `## User\n\n${contentText(message.content)}${files?.join("") ?? ""}`;
    }
    case "assistant":
      return replyText(message, calls);
    case "toolResult": {
      const { toolCallId, toolName, isError, content } = message;
      const call = calls.get(toolCallId);
      const title = `${isError ? "Failed: " : "Result of "}${inline(call?.name ?? toolName)}`;
      return details(title, blocksText(content));
    }
    case "bashExecution": {
      const { command, output, exitCode } = message;
      const end =
        typeof exitCode === "number" && exitCode !== 0 ? `\n\n_Exit code ${exitCode}_` : "";
      return `## User ran a command\n\n${fenced(command, "sh")}\n\n${fenced(output)}${end}`;
    }
    case "custom":
      return message.display
        ? `## ${oneLine(message.customType)}\n\n${contentText(message.content)}`
        : "";
    case "branchSummary":
      return `_Summary of an abandoned branch:_\n\n${quoted(message.summary)}`;
    default:
      return "";
  }
}

function replyText(message: AssistantMessage, calls: Map<string, ToolCall>): string {
  const parts = message.content.map((block) => {
    switch (block.type) {
      case "text":
        return closeFences(block.text);
      case "thinking":
        return block.thinking === "" ? "" : details("Thinking", closeFences(block.thinking));
      default:
        calls.set(block.id, block);
        return `**Call of ${inline(block.name)}**\n\n${argumentsText(block)}`;
    }
  });
  const { model, stopReason, errorMessage } = message;
  if (errorMessage !== undefined) parts.push(`_Failed:_\n\n${fenced(errorMessage)}`);
  else if (stopReason === "aborted" || stopReason === "length") {
    parts.push(stopReason === "length" ? "_Cut off at the output limit._" : "_Aborted._");
  }
  const text = parts.filter((part) => part !== "").join("\n\n");
  return `## Assistant (${oneLine(model)})\n\n${text}`;
}

/** A single text argument, such as a command, is shown verbatim. */
function argumentsText({ arguments: given }: ToolCall): string {
  const members = Object.entries(given);
  const [first] = members;
  if (members.length === 1 && typeof first?.[1] === "string") {
    return fenced(first[1], first[0] === "command" ? "sh" : "");
  }
  return fenced(JSON.stringify(given, undefined, 2), "json");
}

function contentText(content: string | readonly UserContent[]): string {
  if (typeof content === "string") return closeFences(content);
  return content
    .map((block) => (block.type === "text" ? closeFences(block.text) : imageText(block)))
    .join("\n\n");
}

function blocksText(content: readonly UserContent[]): string {
  return content
    .map((block) => (block.type === "text" ? fenced(block.text) : imageText(block)))
    .join("\n\n");
}

function imageText({ mimeType }: Extract<UserContent, { type: "image" }>): string {
  return `_Image: ${inline(mimeType)}_`;
}

function oneLine(text: string): string {
  return textOf(text).replace(/\s+/g, " ").trim();
}
