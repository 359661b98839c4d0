export { projectFiles, userFile } from "./config/places.ts";
export { readEntry } from "./config/read-entry.ts";
export { McpPool } from "./connection/mcp-pool.ts";
export { McpAccess } from "./mcp-access.ts";
export type { McpServerInfo, McpServerList } from "./session/environment.ts";
export { McpServers } from "./session/mcp-servers.ts";
export type { SampledContext } from "./session/sampling.ts";
