import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** A tool result from a client; undefined if it has no content that a model can read. */
export function readToolResult(value: unknown): ToolResult | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.content)) return undefined;
  const content = value.content.map(readBlock);
  if (!content.every((block) => block !== undefined)) return undefined;
  const { details } = value;
  return {
    content,
    ...(details === undefined ? {} : { details }),
    ...(value.isError === true ? { isError: true } : {}),
  };
}

/** Drops members that frames and vendors do not know. */
function readBlock(block: unknown): UserContent | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type, text, data, mimeType } = block;
  if (type === "text") return typeof text === "string" ? { type, text } : undefined;
  if (type !== "image" || typeof data !== "string" || typeof mimeType !== "string")
    return undefined;
  return { type, data, mimeType };
}
