import type { mcpCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const mcpHandlers = {
  get_mcp_servers: ({ session }) => session.mcp.list(),
  set_mcp_servers: ({ session }, { servers }) => session.mcp.set(servers),
  read_mcp_resource: ({ session }, resource) => session.mcp.read(resource),
  mcp_login: async ({ session }, { server }) => {
    await session.mcp.login(server);
    return undefined;
  },
  mcp_logout: async ({ session }, { server }) => {
    await session.mcp.logout(server);
    return undefined;
  },
} satisfies Pick<HostHandlers, keyof typeof mcpCommands>;
