import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const mcp = defineSubcommand({
  name: "mcp",
  summary: "Add, remove and check MCP servers; log in to them",
  usage: [
    "add [-l] <name> [--env K=V] [--cwd <folder>] -- <program and its arguments>",
    "add [-l] <name> --url <address> [--header K=V]",
    "list [--json]",
    "test [<name>] [--json]",
    "remove [-l] <name>",
    "login|logout <name>",
  ],
  actions: {
    add: "Adds a server, or replaces it",
    list: "Connects to all servers; exit code 1 when one of them is down",
    test: "Connects to one server, or to all, and shows the tools",
    remove: "Removes a server",
    login: "Logs in to a server; prints the page to open",
    logout: "Forgets the login of a server",
  },
  options: {
    local: {
      kind: "switch",
      short: "l",
      help: "The file .pi/mcp.json of this project, not mcp.json in the agent directory",
    },
    json: { kind: "switch", help: "Print JSON" },
    env: { kind: "list", value: "NAME=VALUE", help: "Variable for the program; repeatable" },
    cwd: { value: "folder", isPath: true, help: "Folder of the program" },
    url: { value: "address", help: "Address of a server that runs elsewhere" },
    header: { kind: "list", value: "NAME=VALUE", help: "Header of each request; repeatable" },
    exposure: {
      value: "how",
      help: "How its tools are offered: direct, deferred or hidden",
    },
    description: { value: "text", help: "What the server is for" },
  },
  takesProgram: true,
  run: async (line, context) => {
    const { mcpCommand } = await import("../mcp/mcp-command.ts");
    return mcpCommand(line, context);
  },
});
