import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { JsonObject } from "../../base/files/read-json.ts";
import { readTextFile, readTextFileNow } from "../../base/files/read-text.ts";
import { isThinkingLevel } from "../../models/thinking-level.ts";
import { parseFrontmatter, textAttribute } from "../../resources/files/frontmatter.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { bundledAgents } from "./bundled-agents.ts";

/** The agents by name, and what was wrong with their files. */
export interface LoadedAgents {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Loads agent definitions. The project's take precedence over the user's, which take precedence
 * over the bundled ones.
 */
export async function loadAgents(dirs: {
  agentDirectory: string;
  cwd: string;
}): Promise<LoadedAgents> {
  const diagnostics: Diagnostic[] = [];
  const agents = new Map(bundledAgents.map((agent) => [agent.name, agent]));
  for (const { path, source } of agentFiles(dirs)) {
    const agent = await readAgent(path, source, diagnostics);
    if (agent !== undefined) agents.set(agent.name, agent);
  }
  return { agents, diagnostics };
}

/**
 * Name and description of each agent, for the description of a tool. That is needed while a request
 * is built, so this reads only the two lines, synchronously and without a parser.
 */
export function outlineAgents(dirs: { agentDirectory: string; cwd: string }): Map<string, string> {
  const agents = new Map(bundledAgents.map(({ name, description }) => [name, description]));
  for (const { path } of agentFiles(dirs)) {
    const file = readTextFileNow(path);
    if (file.kind !== "text") continue;
    const [, head = ""] = /^---[ \t]*\r?\n(.*?)\r?\n---/s.exec(file.text) ?? [];
    const line = (key: string): string | undefined => {
      const found = new RegExp(`^${key}:[ \\t]*(.*?)[ \\t\\r]*$`, "m").exec(head)?.[1];
      return found?.replace(/^(["'])(.*)\1$/, "$2") || undefined;
    };
    agents.set(line("name") ?? basename(path, ".md"), line("description") ?? "");
  }
  return agents;
}

function agentFiles(dirs: {
  agentDirectory: string;
  cwd: string;
}): { path: string; source: AgentDefinition["source"] }[] {
  const places = [
    { source: "user", folder: join(dirs.agentDirectory, "agents") },
    { source: "project", folder: join(dirs.cwd, ".pi", "agent", "agents") },
    { source: "project", folder: join(dirs.cwd, ".pi", "agents") },
  ] as const;
  return places.flatMap(({ source, folder }) =>
    namesIn(folder).map((name) => ({ path: join(folder, name), source })),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .sort();
  } catch {
    return [];
  }
}

async function readAgent(
  path: string,
  source: AgentDefinition["source"],
  diagnostics: Diagnostic[],
): Promise<AgentDefinition | undefined> {
  const warn = (message: string): undefined => {
    diagnostics.push({ severity: "warning", message: `Agent ${path}: ${message}`, path });
  };
  const file = await readTextFile(path);
  if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
  if (file.kind !== "text") return undefined;
  const { attributes, body, problem } = await parseFrontmatter(file.text);
  if (problem !== undefined) return warn(problem);
  const thinkingLevel = textAttribute(attributes, "thinkingLevel");
  if (thinkingLevel !== undefined && !isThinkingLevel(thinkingLevel)) {
    return warn(`its thinkingLevel is unknown: ${thinkingLevel}`);
  }
  return {
    name: textAttribute(attributes, "name") ?? basename(path, ".md"),
    description: textAttribute(attributes, "description") ?? "",
    tools: listAttribute(attributes, "tools")?.flatMap(spellings),
    model: textAttribute(attributes, "model"),
    thinkingLevel,
    spawns: listAttribute(attributes, "spawns"),
    systemPrompt: body,
    source,
  };
}

/** Agents written for other hosts capitalise tool names. Unknown names have no effect. */
function spellings(tool: string): string[] {
  return [...new Set([tool, tool.toLowerCase()])];
}

/** A YAML list, or names with commas between them. */
function listAttribute(attributes: JsonObject, name: string): string[] | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  const parts = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  if (value === undefined || value === null) return undefined;
  return parts.map((part) => String(part).trim()).filter((part) => part !== "");
}
