import type { AgentTool } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, HostRequests, KeyMask } from "@tau-agent/system";
import type {
  McpExposure,
  McpServerConfig,
  McpSource,
  McpTransportKind,
} from "../config/server-entry.ts";
import type { McpStatus } from "../connection/server.ts";

/** A question of a server while it works on a call. */
export interface ServerQuestion {
  readonly server: string;
  readonly params: JsonObject;
  readonly toolCallId: string | undefined;
  readonly promptId: string | undefined;
  readonly signal: AbortSignal;
}

export interface McpEnvironment {
  /** The folders in which the session works, its own first; undefined for servers that run on another machine. */
  readonly foldersOf: (source: McpServerConfig["source"]) => (() => readonly string[]) | undefined;
  readonly requests: HostRequests;
  readonly tools: {
    offer(source: "mcp", tools: readonly AgentTool[]): void;
    /** Sets whether there may be tools that the model has to search for. */
    expectDeferred(isExpected: boolean): void;
    /** Whether a request to the model has declared a tool with this name. */
    wasRequested(name: string): boolean;
  };
  readonly contextWindow: () => number | undefined;
  readonly promptId: () => string | undefined;
  readonly emit: (event: SessionEvent) => void;
  readonly note: (diagnostic: Diagnostic) => void;
  /** Removes known keys and tokens from texts of servers. */
  readonly maskKeys: KeyMask;
  readonly sample: (request: ServerQuestion) => Promise<JsonObject>;
  /** The configured servers to use; all by default. */
  readonly only?: readonly string[] | undefined;
  /** Whether the host's policy allows a server with this name; by default any. */
  readonly allows?: ((name: string) => boolean) | undefined;
}

interface McpToolInfo {
  readonly name: string;
  readonly serverName: string;
  readonly exposure: McpExposure;
  readonly annotations?: JsonObject;
  /** The data of MCP Apps, as sent by the server. */
  readonly _meta?: { readonly ui: JsonObject };
}

/** A server as shown to clients. */
export interface McpServerInfo {
  readonly name: string;
  readonly source: McpSource;
  readonly transport: McpTransportKind;
  readonly status: McpStatus;
  readonly error?: string;
  readonly exposure: McpExposure;
  readonly restarts: number;
  readonly tools: McpToolInfo[];
}

/** All servers, and the problems with the files. */
export interface McpServerList {
  readonly servers: McpServerInfo[];
  readonly errors: string[];
}
