import * as z from "zod/mini";

/** What an MCP server is doing. */
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

/** How the model reaches tools of a server. */
const McpExposure = z.enum(["direct", "deferred", "hidden"]);

/** An MCP server of a session. */
export const McpServerInfo = z.object({
  /** The name. */
  name: z.string(),
  /** Where it is configured. */
  source: z.enum(["user", "project", "session", "extension"]),
  /** How it is reached. */
  transport: z.enum(["stdio", "http", "sse"]),
  /** What it is doing. */
  status: McpStatus,
  /** Why it does not work. */
  error: z.optional(z.string()),
  /** How the model reaches its tools. */
  exposure: McpExposure,
  /** How often it was started again. */
  restarts: z.number(),
  /** Its tools, as far as they can be offered. */
  tools: z.array(
    z.object({
      /** The name the model uses. */
      name: z.string(),
      /** The name the server uses. */
      serverName: z.string(),
      /** How the model reaches it. */
      exposure: McpExposure,
      /** What the server says about its effects; nothing checks it. */
      annotations: z.optional(z.record(z.string(), z.unknown())),
      /** What a client needs to show the app of the tool, as the server has sent it. */
      _meta: z.optional(
        z.object({
          /** Of MCP Apps: `resourceUri`, `visibility` and what else the server says. */
          ui: z.record(z.string(), z.unknown()),
        }),
      ),
    }),
  ),
});
export type McpServerInfo = z.infer<typeof McpServerInfo>;
