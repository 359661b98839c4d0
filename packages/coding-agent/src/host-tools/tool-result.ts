import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "../base/files/read-json.ts";

/** A tool result as a client sent it; undefined if it has no content that a model can read. */
export function readToolResult(value: unknown): ToolResult | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.content)) return undefined;
  if (!value.content.every(isBlock)) return undefined;
  const { content, details } = value;
  return {
    content: content as UserContent[],
    ...(details === undefined ? {} : { details }),
    ...(value.isError === true ? { isError: true } : {}),
  };
}

function isBlock(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  const { type, data, mimeType } = block;
  return type === "image" && typeof data === "string" && typeof mimeType === "string";
}
