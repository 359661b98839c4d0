import * as z from "zod/mini";

/** The status of an MCP server. */
export const McpStatus = z.enum([
  "disabled",
  "idle",
  "connecting",
  "connected",
  "needs_auth",
  "restarting",
  "failed",
]);
export type McpStatus = z.infer<typeof McpStatus>;

/** How the model can use the tools of a server. */
const McpExposure = z.enum(["direct", "deferred", "hidden"]);

/** An MCP server of a session. */
export const McpServerInfo = z.object({
  /** The name. */
  name: z.string(),
  /** Where it is configured. */
  source: z.enum(["user", "project", "session", "extension"]),
  /** The transport. */
  transport: z.enum(["stdio", "http", "sse"]),
  /** The status. */
  status: McpStatus,
  /** The reason if it does not work. */
  error: z.optional(z.string()),
  /** How the model can use its tools. */
  exposure: McpExposure,
  /** The number of restarts. */
  restarts: z.number(),
  /** The tools that can be offered. */
  tools: z.array(
    z.object({
      /** The name the model uses. */
      name: z.string(),
      /** The name the server uses. */
      serverName: z.string(),
      /** How the model can use it. */
      exposure: McpExposure,
      /** The server's own claims about its effects; they are not verified. */
      annotations: z.optional(z.record(z.string(), z.unknown())),
      /** The data that a client needs to show the tool's app, as sent by the server. */
      _meta: z.optional(
        z.object({
          /** Members of MCP Apps: `resourceUri`, `visibility` and whatever else the server sends. */
          ui: z.record(z.string(), z.unknown()),
        }),
      ),
    }),
  ),
});
export type McpServerInfo = z.infer<typeof McpServerInfo>;
