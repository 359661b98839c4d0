import type { ToolResult } from "@tau-agent/rpc-protocol/events";

const brand = Symbol.for("@tau-agent/agent/ToolError");

/** A tool failed in a way the model should read; `details` are passed through to the result. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly details: ToolResult["details"];
  constructor(message: string, details?: ToolResult["details"], options?: ErrorOptions) {
    super(message, options);
    this.details = details;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Recognises a {@link ToolError} even if the tool has it from another installed copy. */
export function isToolError(value: unknown): value is ToolError {
  return typeof value === "object" && value !== null && brand in value;
}
