import type { AgentTool } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { countArgument } from "../common/schema.ts";
import type { DeferredTools } from "./deferred-tools.ts";
import { findTools } from "./find-tools.ts";

const DEFAULT_LIMIT = 5;
/** How many names the result lists if nothing matches. */
const MAX_LISTED_NAMES = 50;

interface ToolSearchArguments {
  readonly query: string;
  readonly limit?: number | undefined;
}

/** Finds deferred tools and lets the model call them. */
export async function runToolSearch(
  { query, limit }: ToolSearchArguments,
  tools: DeferredTools,
): Promise<ToolResult> {
  const { deferred } = tools;
  const found = findTools(deferred, query, countArgument(limit) ?? DEFAULT_LIMIT);
  if (found.length === 0) return textResult(noneText(query, deferred), []);
  const fresh = found.map(({ name }) => name).filter((name) => !tools.isLoaded(name));
  tools.load(fresh);
  return textResult(tools.areCalledByName ? declarationsText(found) : namesText(found), fresh);
}

function textResult(text: string, loaded: readonly string[]): ToolResult {
  return { content: [{ type: "text", text }], details: { loaded } };
}

function namesText(found: readonly AgentTool[]): string {
  const lines = found.map(({ name, description }) => `- ${name}: ${firstLine(description)}`);
  return `From your next message on you can call:\n${lines.join("\n")}`;
}

function declarationsText(found: readonly AgentTool[]): string {
  const declarations = found.map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  return `Call these with call_tool:\n${declarations.join("\n")}`;
}

function noneText(query: string, deferred: readonly AgentTool[]): string {
  const names = deferred.map(({ name }) => name);
  const more = names.length - MAX_LISTED_NAMES;
  const listed = names.slice(0, MAX_LISTED_NAMES).join(", ");
  return `No tool fits "${query}". Search with other words or by name: ${listed}${more > 0 ? ` and ${more} more` : ""}.`;
}

function firstLine(description: string): string {
  const [line = ""] = description.trim().split("\n", 1);
  return line.length <= 200 ? line : `${line.slice(0, 200)}…`;
}
