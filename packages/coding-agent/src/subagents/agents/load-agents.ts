import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Diagnostic } from "../../diagnostic.ts";
import type { JsonObject } from "../../files/read-json.ts";
import { readTextFile } from "../../files/read-text.ts";
import { isThinkingLevel } from "../../models/thinking-level.ts";
import { parseFrontmatter, textAttribute } from "../../prompt/frontmatter.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { bundledAgents } from "./bundled-agents.ts";

/** The agents by name, and what was wrong with their files. */
export interface LoadedAgents {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Loads agent definitions: the project's are stronger than the user's, and those than the bundled. */
export async function loadAgents(dirs: { agentDir: string; cwd: string }): Promise<LoadedAgents> {
  const diagnostics: Diagnostic[] = [];
  const agents = new Map(bundledAgents.map((agent) => [agent.name, agent]));
  const places = [
    { source: "user", folder: join(dirs.agentDir, "agents") },
    { source: "project", folder: join(dirs.cwd, ".pi", "agent", "agents") },
    { source: "project", folder: join(dirs.cwd, ".pi", "agents") },
  ] as const;
  for (const { source, folder } of places) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((file) => file.endsWith(".md")).sort()) {
      const agent = await readAgent(join(folder, name), source, diagnostics);
      if (agent !== undefined) agents.set(agent.name, agent);
    }
  }
  return { agents, diagnostics };
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
    tools: listAttribute(attributes, "tools"),
    model: textAttribute(attributes, "model"),
    thinkingLevel,
    spawns: listAttribute(attributes, "spawns"),
    systemPrompt: body,
    source,
  };
}

/** A YAML list, or names with commas between them. */
function listAttribute(attributes: JsonObject, name: string): string[] | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  const parts = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  if (value === undefined || value === null) return undefined;
  return parts.map((part) => String(part).trim()).filter((part) => part !== "");
}
