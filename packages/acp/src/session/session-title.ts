import type { AgentMessage, AgentSession } from "@tau-agent/coding-agent";

const MAX_LENGTH = 100;

export function titleOf({ log, messages }: Pick<AgentSession, "log" | "messages">) {
  return log.name ?? firstLine(messages.map(textOf).find((text) => text !== "") ?? "");
}

/** The first line of a text, shortened; undefined if there is none. */
export function firstLine(text: string): string | undefined {
  const line = text.trim().split("\n", 1)[0]?.trim() ?? "";
  if (line === "") return undefined;
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1).trimEnd()}…` : line;
}

function textOf(message: AgentMessage): string {
  if (message.role !== "user") return "";
  const { content } = message;
  if (typeof content === "string") return content.trim();
  const texts = content.map((block) => (block.type === "text" ? block.text : ""));
  return texts.join("").trim();
}
