import type { Progress } from "@modelcontextprotocol/client";
import { type AgentTool, type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { errorMessage, isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { RequestTimeout } from "../connection/call-clocks.ts";
import { statusOf } from "../connection/failures.ts";
import { type RemoteTool, uiOf } from "../connection/remote.ts";
import { type McpServer, McpServerError } from "../connection/server.ts";
import { cleanLine, cleanText } from "../names/clean-text.ts";
import { boundContent } from "./bounded-content.ts";
import { noting } from "./keep-privately.ts";
import type { ToolServices } from "./services.ts";

const MAX_DESCRIPTION = 8000;
const MAX_PROGRESS = 500;
/** A server that floods the host with progress must not flood its client. */
const PROGRESS_INTERVAL_MS = 100;
/** The structured form of a result is kept beside its text up to this length. */
const MAX_STRUCTURED_LENGTH = 50_000;
/** The server wants the user to open a page first. */
const URL_ELICITATION_REQUIRED = -32_042;

export interface ServerToolParts {
  readonly name: string;
  readonly server: McpServer;
  readonly tool: RemoteTool;
  readonly parameters: JsonObject;
  readonly isDeferred: boolean;
}

export function createServerTool(parts: ServerToolParts, services: ToolServices): AgentTool {
  const { name, server, tool, parameters, isDeferred } = parts;
  const serverName = server.config.name;
  const { trustsHints } = server.config.entry;
  const title = cleanLine(tool.title ?? "", MAX_PROGRESS);
  return {
    name,
    label: `${serverName}/${cleanLine(tool.name, 200)}`,
    description:
      cleanText(tool.description ?? "", MAX_DESCRIPTION) ||
      title ||
      `The tool ${cleanLine(tool.name, 200)} of the MCP server ${serverName}`,
    parameters,
    isReadOnly: trustsHints && tool.annotations?.readOnlyHint === true,
    // Only a server whose hints are trusted may say that its results contain no third-party text.
    openWorld: !(trustsHints && tool.annotations?.openWorldHint === false),
    isDeferred,
    ...claimsOf(serverName, tool),
    execute: (args, call) => callTool({ server, tool, args, call }, services),
  };
}

/** The hints of a tool in words, for a user who is asked about a call. */
function claimsOf(server: string, { annotations = {} }: RemoteTool): { claims?: string } {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const hints = [
    readOnlyHint === true ? "only reads" : undefined,
    destructiveHint === true && readOnlyHint !== true ? "may destroy something" : undefined,
    destructiveHint === false && readOnlyHint !== true ? "destroys nothing" : undefined,
    idempotentHint === true && readOnlyHint !== true ? "may be repeated" : undefined,
    openWorldHint === true ? "reaches other systems" : undefined,
  ].filter((hint) => hint !== undefined);
  if (hints.length === 0) return {};
  return { claims: `The MCP server ${server} says that it ${hints.join(", ")}.` };
}

interface ToolCallParts {
  readonly server: McpServer;
  readonly tool: RemoteTool;
  readonly args: JsonObject;
  readonly call: ToolCallContext;
}

async function callTool(parts: ToolCallParts, services: ToolServices): Promise<ToolResult> {
  const { server, tool, args, call } = parts;
  const result = await services.calls
    .during(server, call, () =>
      server.request(
        "tools/call",
        { name: tool.name, arguments: args },
        {
          timeoutMs: server.config.entry.timeoutMs,
          signal: call.signal,
          onProgress: progressTo(call),
        },
      ),
    )
    .catch(async (error: unknown) => {
      throw await toolErrorOf(error, parts, services);
    });
  return toolResultOf(result, parts, services);
}

async function toolResultOf(
  result: JsonObject,
  { server, tool }: ToolCallParts,
  services: ToolServices,
): Promise<ToolResult> {
  const serverName = server.config.name;
  // Images need code that most calls do not use.
  const { resultContent } = await import("./result-content.ts");
  const noted = noting(services.keep);
  const context = { server: serverName, keep: noted.keep, canRead: services.canRead() };
  const all = await resultContent(result, context);
  const { content, fullOutputPath } = await boundContent(all, services.keep);
  const isError = result.isError === true;
  if (content.length === 0) {
    const text = isError
      ? `The tool ${tool.name} of ${serverName} failed without saying why.`
      : `The tool ${tool.name} of ${serverName} has returned nothing.`;
    content.push({ type: "text", text });
  }
  const ui = uiOf(result);
  const structured = JSON.stringify(result.structuredContent) ?? "";
  const hasStructured = structured !== "" && structured.length <= MAX_STRUCTURED_LENGTH;
  return {
    content,
    details: {
      server: serverName,
      tool: tool.name,
      ...(hasStructured ? { structuredContent: result.structuredContent } : {}),
      ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
      ...noted.details(),
      ...(ui === undefined ? {} : { _meta: { ui } }),
    },
    ...(isError ? { isError: true } : {}),
  };
}

function progressTo({ onUpdate }: ToolCallContext) {
  let last = 0;
  return ({ progress, total, message }: Progress) => {
    const now = performance.now();
    if (last !== 0 && now - last < PROGRESS_INTERVAL_MS) return;
    last = now;
    const share = total === undefined ? String(progress) : `${progress}/${total}`;
    const text = message === undefined ? `Progress ${share}` : `${message} (${share})`;
    const details = { progress, ...(total === undefined ? {} : { total }) };
    onUpdate({ content: [{ type: "text", text: cleanLine(text, MAX_PROGRESS) }], details });
  };
}

async function toolErrorOf(
  error: unknown,
  { server, tool, call }: ToolCallParts,
  services: ToolServices,
): Promise<unknown> {
  if (call.signal.aborted) return error;
  const { name, entry } = server.config;
  if (error instanceof McpServerError) return new ToolError(error.message);
  const { code, data } = Object(error) as { code?: unknown; data?: unknown };
  if (error instanceof RequestTimeout) {
    const seconds = entry.timeoutMs / 1000;
    return new ToolError(
      `The MCP server ${name} did not answer ${tool.name} within ${seconds} s (timeout in mcp.json).`,
    );
  }
  if (code === URL_ELICITATION_REQUIRED && isJsonObject(data)) {
    return new ToolError(await services.openPages(server, data, call));
  }
  const isOfAddress = statusOf(error) !== undefined;
  const reason = isOfAddress
    ? server.reasonOf(error)
    : cleanText(errorMessage(error), MAX_DESCRIPTION);
  return new ToolError(`The MCP server ${name} refused the call of ${tool.name}: ${reason}`);
}
