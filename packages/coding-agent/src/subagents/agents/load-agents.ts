import type { PermissionMode } from "@tau-agent/rpc-protocol";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { isThinkingLevel, permissionModes } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, TextFile } from "@tau-agent/system";
import { askEach, type Disk, kindOf } from "../../resources/files/disk.ts";
import { fittingEntries } from "../../resources/files/folder-names.ts";
import { parseFrontmatter, textAttribute } from "../../resources/files/frontmatter.ts";
import { disksOf, type ResourceDirs } from "../../resources/files/places.ts";
import { textBoundsOf } from "../../resources/files/project-bounds.ts";
import { leftOut, readBoundText } from "../../resources/files/text-bounds.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { bundledAgents } from "./bundled-agents.ts";

export interface LoadedAgents {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Where to look for agents, and whether the project's are trusted. */
export interface AgentDirs extends ResourceDirs {
  /** Until the project is trusted, its agents cannot replace others or choose a model. */
  readonly isProjectTrusted: boolean;
}

/**
 * Loads agent definitions. The project's take precedence over the user's, which take precedence over the bundled ones.
 */
export async function loadAgents(dirs: AgentDirs): Promise<LoadedAgents> {
  const diagnostics: Diagnostic[] = [];
  const agents = new Map(bundledAgents.map((agent) => [agent.name, agent]));
  for (const { file, source, name } of await agentFiles(dirs, diagnostics)) {
    const agent = await readAgent({ file, source, name }, diagnostics);
    if (agent === undefined) continue;
    if (mayDefine(agent, agents, dirs)) agents.set(agent.name, restricted(agent, dirs));
    else {
      const reason = `the project is not trusted, and there is another agent ${agent.name}`;
      diagnostics.push(leftOut(file.path, reason));
    }
  }
  return { agents, diagnostics };
}

/**
 * The name and description of each agent, for a tool's description. Every session needs them, so this reads only the
 * two lines, without a parser.
 */
export async function outlineAgents(dirs: AgentDirs): Promise<Map<string, string>> {
  const agents = new Map(
    bundledAgents.map((agent) => [agent.name, pick(agent, agent.description)]),
  );
  for (const { file, source, name: fileName } of await agentFiles(dirs, [])) {
    if (file.kind !== "text") continue;
    const [, head = ""] = /^---[ \t]*\r?\n(.*?)\r?\n---/s.exec(file.text) ?? [];
    const line = (key: string): string | undefined => {
      const found = new RegExp(`^${key}:(.*)$`, "m").exec(head)?.[1]?.trim();
      return found?.replace(/^(["'])(.*)\1$/, "$2") || undefined;
    };
    const name = line("name") ?? fileName;
    const agent = { name, source };
    if (mayDefine(agent, agents, dirs)) agents.set(name, pick(agent, line("description") ?? ""));
  }
  return new Map([...agents].map(([name, { description }]) => [name, description]));
}

type Named = Pick<AgentDefinition, "name" | "source">;

function pick({ name, source }: Named, description: string): Named & { description: string } {
  return { name, source, description };
}

/** Whether an agent may use its name, which another agent may already have. */
function mayDefine(
  { name, source }: Named,
  agents: ReadonlyMap<string, Named>,
  { isProjectTrusted }: AgentDirs,
): boolean {
  const other = agents.get(name);
  return isProjectTrusted || source !== "project" || (other?.source ?? source) === source;
}

/** Drops the members that only a trusted project may set. The agent's tools are limited to the session's. */
function restricted(agent: AgentDefinition, { isProjectTrusted }: AgentDirs): AgentDefinition {
  if (isProjectTrusted || agent.source !== "project") return agent;
  const withheld = {
    model: undefined,
    fallbackModels: undefined,
    thinkingLevel: undefined,
    mcpServers: undefined,
  };
  return { ...agent, ...withheld, isLimitedToCaller: true };
}

interface AgentFile {
  readonly file: TextFile;
  readonly source: AgentDefinition["source"];
  /** The file's name, which is the default name of the agent. */
  readonly name: string;
}

/** Reads the files of all agents, the weakest first. */
async function agentFiles(dirs: AgentDirs, diagnostics: Diagnostic[]): Promise<AgentFile[]> {
  const { host, project } = disksOf(dirs);
  const { join } = project.path;
  const userFolder = host.path.join(dirs.agentDirectory, "agents");
  const places = [
    { source: "user", disk: host, folder: userFolder },
    { source: "project", disk: project, folder: join(dirs.cwd, ".pi", "agent", "agents") },
    { source: "project", disk: project, folder: join(dirs.cwd, ".pi", "agents") },
  ] as const;
  const counting = places.filter(
    ({ source, disk, folder }) => source === "user" || disk.isFar || folder !== userFolder,
  );
  const listed = askEach(
    counting,
    ({ disk }) => disk,
    async (place) => {
      const problems: Diagnostic[] = [];
      return { place, problems, entries: await entriesIn(place, problems) };
    },
  );
  const found = [];
  for (const list of listed) {
    const { place, problems, entries } = await list();
    diagnostics.push(...problems);
    found.push(...entries.map(({ name }) => ({ ...place, name })));
  }
  if (found.length === 0) return [];
  const bounds = await textBoundsOf(dirs);
  const read = askEach(
    found,
    ({ disk }) => disk,
    async ({ source, disk, folder, name }) => {
      const origin = source === "project" ? "project" : "own";
      const file = await readBoundText(disk.path.join(folder, name), origin, bounds, { disk });
      return { file, source, name: disk.path.basename(name, ".md") };
    },
  );
  const files: AgentFile[] = [];
  for (const answer of read) files.push(await answer());
  return files;
}

/** The Markdown files in a folder. For a missing folder on this machine, this costs one check. */
async function entriesIn(
  { disk, folder }: { readonly disk: Disk; readonly folder: string },
  diagnostics: Diagnostic[],
) {
  if (!disk.isFar && (await kindOf(disk, folder)) !== "directory") return [];
  return fittingEntries(disk, folder, /\.md$/, diagnostics);
}

async function readAgent(
  { file, source, name }: AgentFile,
  diagnostics: Diagnostic[],
): Promise<AgentDefinition | undefined> {
  const { path } = file;
  const warn = (message: string): undefined => {
    diagnostics.push({ severity: "warning", message: `Agent ${path}: ${message}`, path });
  };
  if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
  if (file.kind !== "text") return undefined;
  const { attributes, body, problem } = await parseFrontmatter(file.text);
  if (problem !== undefined) return warn(problem);
  const thinkingLevel = textAttribute(attributes, "thinkingLevel");
  if (thinkingLevel !== undefined && !isThinkingLevel(thinkingLevel)) {
    return warn(`its thinkingLevel is unknown: ${thinkingLevel}`);
  }
  return {
    name: textAttribute(attributes, "name") ?? name,
    description: textAttribute(attributes, "description") ?? "",
    tools: listAttribute(attributes, "tools")?.flatMap(spellings),
    model: textAttribute(attributes, "model"),
    fallbackModels: listAttribute(attributes, "fallbackModels"),
    maxTurns: turnsAttribute(attributes, warn),
    thinkingLevel,
    permissionMode: permissionMode(attributes, warn),
    spawns: listAttribute(attributes, "spawns"),
    mcpServers: listAttribute(attributes, "mcpServers"),
    systemPrompt: body,
    source,
  };
}

/** An unreadable mode counts as `ask`: a restriction must not be lost through a mistake. */
function permissionMode(
  attributes: JsonObject,
  warn: (message: string) => void,
): PermissionMode | undefined {
  if (!Object.hasOwn(attributes, "permissionMode")) return undefined;
  const given = attributes.permissionMode;
  const mode = permissionModes.find((known) => known === given);
  if (mode !== undefined) return mode;
  const known = permissionModes.join(", ");
  warn(`its permissionMode is unknown: ${JSON.stringify(given)}. It asks. Known are ${known}.`);
  return "ask";
}

/** An unreadable limit counts as the smallest one: a restriction must not be lost through a mistake. */
function turnsAttribute(
  attributes: JsonObject,
  warn: (message: string) => void,
): number | undefined {
  if (!Object.hasOwn(attributes, "maxTurns")) return undefined;
  const turns = Number(attributes.maxTurns);
  if (Number.isSafeInteger(turns) && turns > 0) return turns;
  warn(`its maxTurns is not a number from 1 on: ${JSON.stringify(attributes.maxTurns)}. It is 1.`);
  return 1;
}

/** Agents written for other hosts capitalise tool names. Unknown names have no effect. */
function spellings(tool: string): string[] {
  return [...new Set([tool, tool.toLowerCase()])];
}

/** A YAML list, or comma-separated names. */
function listAttribute(attributes: JsonObject, name: string): string[] | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  const parts = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  if (value === undefined || value === null) return undefined;
  return parts.map((part) => String(part).trim()).filter((part) => part !== "");
}
