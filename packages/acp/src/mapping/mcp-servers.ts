import type { McpServer } from "@agentclientprotocol/sdk";

/**
 * The client's MCP servers by name, as entries of mcp.json. A duplicate name gets a number, so that both servers are
 * kept.
 */
export function mcpEntries(servers: readonly McpServer[]): Record<string, object> {
  const entries: Record<string, object> = Object.create(null);
  for (const server of servers) entries[freeName(server.name, entries)] = entryOf(server);
  return { ...entries };
}

function entryOf(server: McpServer): object {
  if ("command" in server) {
    const { command, args, env } = server;
    return { command, args, env: byName(env) };
  }
  const { type, url, headers } = server;
  return { type, url, headers: byName(headers) };
}

function byName(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function freeName(name: string, taken: Record<string, object>): string {
  let free = name;
  for (let number = 2; free in taken; number++) free = `${name}-${number}`;
  return free;
}
