import type { McpServerInfo, McpServerList } from "@tau-agent/mcp";

const NONE =
  "No MCP servers are configured. Add one: tau mcp add <name> -- <program>, or --url <address>";

export function reportOf({ servers, errors }: McpServerList, hasTools: boolean): string {
  const lines = servers.flatMap((server) => [
    lineOf(server),
    ...(server.error === undefined ? [] : [`  ${server.error}`]),
    ...(hasTools ? server.tools.map((tool) => `  ${toolLine(tool, server)}`) : []),
  ]);
  const all = [...lines, ...errors];
  return all.length === 0 ? `${NONE}\n` : `${all.join("\n")}\n`;
}

function lineOf({ name, status, transport, source, tools }: McpServerInfo): string {
  // The command ends now, so nothing restarts the server.
  const state = status === "restarting" ? "down" : status;
  const count = status === "connected" ? `, ${tools.length} tools` : "";
  const hint = status === "needs_auth" ? `; log in with: tau mcp login ${name}` : "";
  return `${name}: ${state} (${transport}, ${source}${count})${hint}`;
}

function toolLine(
  { name, serverName, exposure }: McpServerInfo["tools"][number],
  server: McpServerInfo,
): string {
  const marked = exposure === server.exposure ? "" : ` (${exposure})`;
  return `${name} ← ${serverName}${marked}`;
}
