import {
  type AgentSession,
  addMcpServer,
  mcpServerNames,
  removeMcpServer,
  SessionError,
} from "@tau-agent/coding-agent";
import type { McpServerInfo, McpServerList } from "@tau-agent/mcp";
import { nearestHint } from "@tau-agent/rpc-protocol/plain";
import type { OptionTable } from "../command-line/option-row.ts";
import type { CommandContext, CommandLine } from "../command-line/subcommand.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import { showingProgress } from "../process/progress.ts";
import { openCommandSession } from "../session/command-session.ts";
import { type McpRequest, readRequest } from "./read-request.ts";
import { reportOf } from "./server-report.ts";

/**
 * Runs `tau mcp` with the arguments after it. Loads no extension and sends nothing to a model.
 *
 * @returns the exit code
 */
export async function mcpCommand(
  line: CommandLine<OptionTable>,
  { print, environment }: CommandContext,
): Promise<number> {
  const request = readRequest(line);
  const { agentDirectory, cwd } = environment;
  const { action, name = "", isLocal } = request;
  const place = { agentDirectory, cwd, isLocal };
  if (action === "add") {
    print(`Added ${name} to ${await addMcpServer(place, name, request.entry)}\n`);
    print(`To check it: tau mcp test ${name}\n`);
    return 0;
  }
  if (action === "remove") {
    print(`Removed ${name} from ${await removeMcpServer(place, name)}\n`);
    return 0;
  }
  await using session = await openSession(request, environment);
  switch (action) {
    case "login":
      showPages(session, print);
      await session.mcp.login(name);
      print(`Logged in to ${name}.\n`);
      return 0;
    case "logout":
      await session.mcp.logout(name);
      print(`Logged out of ${name}.\n`);
      return 0;
    default:
      return report(await connected(session), request, {
        print,
        leftOut: leftOut(session),
        names: () => mcpServerNames({ agentDirectory, cwd }),
      });
  }
}

/** `npx` downloads a server before its first start. */
function connected({ mcp }: AgentSession): Promise<McpServerList> {
  return showingProgress("Connecting to MCP servers", () => mcp.connected());
}

interface ReportContext {
  readonly print: (text: string) => void;
  readonly names: () => Promise<string[]>;
  /** Why the servers of the project are ignored. */
  readonly leftOut: string | undefined;
}

function leftOut({ diagnostics }: AgentSession): string | undefined {
  const found = diagnostics.find(({ code }) => code === "project_untrusted");
  return found && `${found.message} Start tau with --approve in that folder to trust it.`;
}

async function report(
  { servers, errors }: McpServerList,
  { action, name, isJson }: McpRequest,
  { print, names, leftOut }: ReportContext,
): Promise<number> {
  const asked = servers.filter((server) => name === undefined || server.name === name);
  if (name !== undefined && asked.length === 0) {
    const known = await names();
    if (known.includes(name) && leftOut !== undefined) {
      throw new SessionError("mcp_server_not_found", { server: name, hint: ` here: ${leftOut}` });
    }
    const hint = nearestHint(name, known);
    throw new SessionError("mcp_server_not_found", { server: name, hint });
  }
  const problems = name === undefined ? errors : [];
  print(
    isJson
      ? `${JSON.stringify({ servers: asked, errors: problems }, null, 2)}\n`
      : reportOf({ servers: asked, errors: problems }, action === "test"),
  );
  if (leftOut !== undefined && name === undefined && !isJson) print(`${leftOut}\n`);
  return problems.length === 0 && asked.every(isWell) ? 0 : 1;
}

function isWell({ status }: McpServerInfo): boolean {
  return status === "connected" || status === "disabled";
}

async function openSession(
  { action, name }: McpRequest,
  environment: ProcessEnvironment,
): Promise<AgentSession> {
  // A login needs no other server and must work while this server is down.
  const isAlone = (action === "test" || action === "login" || action === "logout") && name;
  return openCommandSession(environment, { only: isAlone ? [name] : undefined });
}

/** The user may open the login page on another machine. */
function showPages(session: AgentSession, print: (text: string) => void): void {
  session.requests.attach({
    answers: (method) => method === "open_url",
    closed: () => {},
    open: (request) => {
      if (request.method !== "open_url") return false;
      print(`Open this page to log in:\n${request.params.url}\n`);
      queueMicrotask(() => session.requests.answer(request.id, { result: {} }));
      return true;
    },
  });
}
