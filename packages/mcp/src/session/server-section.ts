import { escapeXml } from "@tau-agent/system";
import type { McpServer } from "../connection/server.ts";
import { cleanLine, cleanText } from "../names/clean-text.ts";
import type { Catalogue } from "../tools/catalogue.ts";

const MAX_LINE = 200;
const MAX_INSTRUCTIONS = 1000;
/** The limit for all servers together. */
const MAX_ALL_INSTRUCTIONS = 4000;

/**
 * The part of the system prompt about servers: a line for each, and their own instructions, of limited
 * length. The text comes from third parties, so it must not be able to end its line or the section.
 */
export function describeServers(
  servers: readonly McpServer[],
  { fallbackExposure }: Pick<Catalogue, "fallbackExposure">,
): string {
  const shown = servers
    .filter(({ config, status }) => {
      const exposure = config.entry.exposure ?? fallbackExposure;
      return exposure !== "hidden" && status !== "disabled";
    })
    .sort((a, b) => (a.config.name < b.config.name ? -1 : 1));
  if (shown.length === 0) return "";
  const lines = shown.map(({ config, instructions = "" }) => {
    const [firstLine = ""] = instructions.trim().split("\n");
    const about = cleanLine(config.entry.description ?? firstLine, MAX_LINE);
    const isDeferred = (config.entry.exposure ?? fallbackExposure) === "deferred";
    const hint = isDeferred ? " (find its tools with tool_search)" : "";
    return `- ${escapeXml(config.name)}${hint}${about === "" ? "" : `: ${escapeXml(about)}`}`;
  });
  const opening = "MCP servers whose tools are named mcp__<server>__<tool>:";
  const said = instructionsOf(shown, fallbackExposure);
  const body = [opening, ...lines, ...said].join("\n");
  return `<mcp_servers>\n${body}\n</mcp_servers>`;
}

/** Only of servers with declared tools: for the others, the line is enough until their tools are found. */
function instructionsOf(servers: readonly McpServer[], fallback: string): string[] {
  let left = MAX_ALL_INSTRUCTIONS;
  return servers.flatMap(({ config, instructions = "" }) => {
    const limit = Math.min(MAX_INSTRUCTIONS, left);
    const isDirect = (config.entry.exposure ?? fallback) === "direct";
    const text = isDirect && limit > 0 ? cleanText(instructions, limit) : "";
    // A single line is already shown above, unless a description replaced it.
    const isLine = !text.includes("\n") && text.length <= MAX_LINE;
    if (text === "" || (isLine && config.entry.description === undefined)) return [];
    left -= text.length;
    return [
      `<instructions server="${escapeXml(config.name)}">\n${escapeXml(text)}\n</instructions>`,
    ];
  });
}
