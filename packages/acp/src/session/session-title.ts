import type { AgentSession } from "@tau-agent/coding-agent";
import { contentText } from "@tau-agent/rpc-protocol/plain";

const MAX_LENGTH = 100;

export function titleOf({ log, messages }: Pick<AgentSession, "log" | "messages">) {
  const prompts = messages.filter((message) => message.role === "user");
  const texts = prompts.map(({ content }) => contentText(content).trim());
  return log.name ?? firstLine(texts.find((text) => text !== "") ?? "");
}

/** The first line of a text, shortened; undefined for a blank text. */
export function firstLine(text: string): string | undefined {
  const line = text.trim().split("\n", 1)[0]?.trim() ?? "";
  if (line === "") return undefined;
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1).trimEnd()}…` : line;
}
