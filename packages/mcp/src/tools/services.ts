import type { ToolCallContext } from "@tau-agent/agent";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { McpServer } from "../connection/server.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { KeepData } from "./result-content.ts";

export interface ToolServices {
  readonly calls: OpenCalls;
  readonly keep: KeepData;
  readonly canRead: () => boolean;
  /** Asks the user to open the pages that a server requires first; returns a text about it for the model. */
  readonly openPages: (
    server: McpServer,
    data: JsonObject,
    call: ToolCallContext,
  ) => Promise<string>;
}
