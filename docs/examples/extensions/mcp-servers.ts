// Registers an MCP server for other extensions to connect to, and connects to servers itself.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function mcpServers(pi: ExtensionApi): void {
  pi.registerMcpServer("docs", { command: "docs-server", args: ["--stdio"] });
  const show = (servers: readonly { readonly name: string }[]): void =>
    pi.appendEntry(
      "servers",
      servers.map(({ name }) => name),
    );
  pi.on("session_start", () => show(pi.getMcpServers()));
  pi.on("mcp_servers_change", ({ servers }) => show(servers));
  pi.registerCommand("add-server", {
    description: "Registers one more server",
    handler: (name) => pi.registerMcpServer(name, { url: `https://${name}.example` }),
  });
}
