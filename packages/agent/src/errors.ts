import type { ToolResult } from "@tau-agent/rpc-protocol/events";

/** A tool failed in a way the model should read; `details` go into the result as they are. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly details: ToolResult["details"];
  constructor(message: string, details?: ToolResult["details"], options?: ErrorOptions) {
    super(message, options);
    this.details = details;
  }
}
