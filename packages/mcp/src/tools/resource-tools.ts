import { type AgentTool, type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { errorMessage, isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { McpServer } from "../connection/server.ts";
import { boundContent } from "./bounded-content.ts";
import { noting } from "./keep-privately.ts";
import type { ToolServices } from "./services.ts";

export interface ResourceToolOptions extends ToolServices {
  readonly servers: () => readonly McpServer[];
}

const serverProperty = { type: "string", description: "Name of the MCP server" };

export function createResourceTools(options: ResourceToolOptions): readonly AgentTool[] {
  return [
    listTool(
      {
        name: "list_mcp_resources",
        description:
          "Lists the resources of MCP servers, such as files and records, with their URIs. Read one with read_mcp_resource.",
        method: "resources/list",
        member: "resources",
      },
      options,
    ),
    listTool(
      {
        name: "list_mcp_resource_templates",
        description:
          "Lists templates of URIs that MCP servers can read with read_mcp_resource once their variables are filled in.",
        method: "resources/templates/list",
        member: "resourceTemplates",
      },
      options,
    ),
    readTool(options),
  ];
}

interface ListParts {
  readonly name: string;
  readonly description: string;
  readonly method: string;
  readonly member: string;
}

function listTool(
  { name, description, method, member }: ListParts,
  options: ResourceToolOptions,
): AgentTool {
  return {
    name,
    description,
    isReadOnly: true,
    openWorld: true,
    parameters: {
      type: "object",
      properties: {
        server: { ...serverProperty, description: "Only of this server; of all by default" },
      },
    },
    execute: async ({ server }, call) => {
      const asked = server === undefined ? options.servers() : [serverOf(server, options)];
      const lists = await Promise.all(
        asked.map(async (from) => {
          const limits = { timeoutMs: from.config.entry.timeoutMs, signal: call.signal };
          try {
            const items = await from.list(method, member, limits);
            return items.filter(isJsonObject).map((item) => shownItem(from, item));
          } catch (error) {
            if (server !== undefined) throw refusal(from, error, call);
            return [{ server: from.config.name, error: errorMessage(error) }];
          }
        }),
      );
      return resultOf(JSON.stringify({ [member]: lists.flat() }), options);
    },
  };
}

/** Without icons and server apps, which are only for people. */
function shownItem({ config }: McpServer, item: JsonObject): JsonObject {
  const { icons: _icons, _meta, annotations: _annotations, ...rest } = item;
  return { server: config.name, ...rest };
}

function readTool(options: ResourceToolOptions): AgentTool {
  return {
    name: "read_mcp_resource",
    description: "Reads a resource of an MCP server by its URI.",
    parameters: {
      type: "object",
      properties: {
        server: serverProperty,
        uri: { type: "string", description: "URI of the resource" },
      },
      required: ["server", "uri"],
    },
    openWorld: true,
    execute: async ({ server: name, uri }, call) => {
      const server = serverOf(name, options);
      const result = await readResource(server, String(uri), call).catch((error: unknown) => {
        throw refusal(server, error, call);
      });
      const { resourceContent } = await import("./result-content.ts");
      const noted = noting(options.keep);
      const context = { server: server.config.name, keep: noted.keep, canRead: true };
      const contents = Array.isArray(result.contents) ? result.contents.filter(isJsonObject) : [];
      const all: ToolResult["content"] = [];
      for (const resource of contents) all.push(await resourceContent(resource, context));
      if (all.length === 0) all.push({ type: "text", text: "The resource is empty." });
      const { content, fullOutputPath } = await boundContent(all, options.keep);
      const details = { server: server.config.name, uri, ...noted.details() };
      return {
        content,
        details: fullOutputPath === undefined ? details : { ...details, fullOutputPath },
      };
    },
  };
}

function readResource(
  server: McpServer,
  uri: string,
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<JsonObject> {
  const { timeoutMs } = server.config.entry;
  return server.request("resources/read", { uri }, { timeoutMs, signal });
}

function serverOf(name: unknown, { servers }: ResourceToolOptions): McpServer {
  const known = servers();
  const found = known.find(({ config }) => config.name === name);
  if (found !== undefined) return found;
  const names = known.map(({ config }) => config.name).join(", ");
  throw new ToolError(`There is no MCP server ${String(name)} with resources; there are: ${names}`);
}

function refusal({ config }: McpServer, error: unknown, { signal }: ToolCallContext): unknown {
  if (signal.aborted) return error;
  return new ToolError(`The MCP server ${config.name}: ${errorMessage(error)}`);
}

async function resultOf(text: string, { keep }: ToolServices): Promise<ToolResult> {
  const { content } = await boundContent([{ type: "text", text }], keep);
  return { content };
}
