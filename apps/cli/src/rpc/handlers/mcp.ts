import type { Handlers } from "@tau-agent/rpc-protocol";
import type { mcpCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const mcpHandlers = {
  get_mcp_servers: ({ session }) => session.mcp.list(),
  set_mcp_servers: ({ session }, { servers }) => session.mcp.set(servers),
  mcp_login: async ({ session }, { server }) => {
    await session.mcp.login(server);
    return undefined;
  },
  mcp_logout: async ({ session }, { server }) => {
    await session.mcp.logout(server);
    return undefined;
  },
} satisfies Pick<Handlers<Host>, keyof typeof mcpCommands>;
