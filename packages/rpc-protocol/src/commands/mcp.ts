import * as z from "zod/mini";
import { McpServerInfo } from "../vocabulary/mcp.ts";
import { command } from "./command.ts";

const servers = () =>
  z.object({
    /** The servers. */
    servers: z.array(McpServerInfo),
    /** What is wrong with the configuration; each begins with the path of the file. */
    errors: z.array(z.string()),
  });

const server = () =>
  z.object({
    /** The name of the server. */
    server: z.string(),
  });

/** MCP servers. */
export const mcpCommands = {
  get_mcp_servers: command({
    summary: "Lists the MCP servers of this session with their state and their tools.",
    result: servers,
  }),
  set_mcp_servers: command({
    summary:
      "Replaces the MCP servers that this session has beside the configured ones; an empty object also stops those of the files for this session. A bad entry refuses all.",
    params: () =>
      z.object({
        /** Entries by name, as in `mcpServers` of mcp.json. */
        servers: z.record(z.string(), z.unknown()),
      }),
    result: servers,
    positional: ["servers"],
  }),
  read_mcp_resource: command({
    summary:
      "Reads a resource of an MCP server, such as the page of an app (`ui://…`), as the server sends it.",
    params: () =>
      z.object({
        /** The name of the server. */
        server: z.string(),
        /** The address of the resource. */
        uri: z.string(),
      }),
    result: () =>
      z.object({
        /** The contents: `uri`, `mimeType`, `text` or `blob`, and `_meta`. */
        contents: z.array(z.record(z.string(), z.unknown())),
      }),
    positional: ["server", "uri"],
    takesLong: true,
  }),
  mcp_login: command({
    summary:
      "Logs in to an MCP server: the page arrives as host request `open_url`. Answered when the server is connected.",
    params: server,
    positional: ["server"],
    takesLong: true,
  }),
  mcp_logout: command({
    summary: "Forgets the login of an MCP server.",
    params: server,
    positional: ["server"],
    takesLong: true,
  }),
};
