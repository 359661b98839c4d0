import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { isToolError, ToolError } from "../tools/errors.ts";

export const ABORTED_TEXT = "The run was aborted before this tool call started.";

export function abortedError(): ToolError {
  return new ToolError(ABORTED_TEXT, { skipped: "aborted" });
}

export function resultOfError(error: unknown): ToolResult {
  const message = errorMessage(error);
  const details = isToolError(error) ? error.details : undefined;
  return errorResult(message === "" ? "The tool failed without a message" : message, details);
}

export function errorResult(text: string, details?: unknown): ToolResult {
  return { content: [{ type: "text", text }], details: details ?? {}, isError: true };
}
