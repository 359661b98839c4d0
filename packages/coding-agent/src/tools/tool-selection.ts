import type { AgentTool } from "@tau-agent/agent";
import { nearestHint } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import { starMatcher } from "@tau-agent/system";
import { jobToolNames } from "./jobs/definition.ts";
import { subagentToolNames } from "./subagents/definition.ts";
import { webFetchName } from "./web-fetch/definition.ts";

/** Which tools are active. */
export interface ToolSelection {
  /** Plain names are the complete set; `+name` and `-name` change the default set. `*` matches any text. */
  readonly only?: readonly string[] | undefined;
  /** Always excluded. */
  readonly exclude?: readonly string[] | undefined;
  readonly noBuiltIn?: boolean | undefined;
  /** Whether to have no tools at all. */
  readonly none?: boolean | undefined;
}

/** The tools that {@link selectTools} selects from. */
export interface SelectableTools {
  readonly builtIn: readonly AgentTool[];
  readonly custom: readonly AgentTool[];
  readonly selection?: ToolSelection | undefined;
  readonly settings: Pick<SettingsStore, "get">;
  /** Tools that may also be named. */
  readonly alsoKnown: readonly AgentTool[];
  /** Whether a tool is allowed. A name that it refuses is known, but has no tool. */
  readonly isAllowed?: ((name: string) => boolean) | undefined;
}

/**
 * The active tools in a fixed order: built-in tools as listed (a custom tool replaces the one of
 * the same name), then custom tools. The order is part of every request and must not change.
 */
export function selectTools({
  builtIn,
  custom,
  selection = {},
  settings,
  alsoKnown,
  isAllowed,
}: SelectableTools): { tools: AgentTool[]; all: AgentTool[]; diagnostics: Diagnostic[] } {
  if (selection.none) return { tools: [], all: [], diagnostics: [] };
  const replacements = new Map(custom.map((tool) => [tool.name, tool]));
  const patterns = selection.only ?? settings.get("defaultTools");
  const isWanted = ({ name }: AgentTool) =>
    name !== webFetchName || settings.get("web.fetch") || isNamed(name, patterns);
  const own = selection.noBuiltIn ? [] : builtIn.filter(isWanted);
  const names = new Set(own.map((tool) => tool.name));
  const all = [
    ...own.map((tool) => replacements.get(tool.name) ?? tool),
    ...custom.filter((tool) => !names.has(tool.name)),
  ];
  const diagnostics = unknownNames(
    [...(patterns ?? []), ...(selection.exclude ?? [])].filter(
      (pattern) => isAllowed?.(pattern.replace(/^[+-]/, "")) !== false,
    ),
    [...builtIn, ...custom, ...alsoKnown],
  );
  const active =
    patterns === undefined ? all : withFollowers(all, applyPatterns(all, patterns), patterns);
  const excluded = selection.exclude ?? [];
  return {
    tools: active.filter(({ name }) => !excluded.some((pattern) => fits(pattern, name))),
    all,
    diagnostics,
  };
}

/** Whether a pattern is the exact name; `*` does not include tools that are off by default. */
function isNamed(name: string, patterns: readonly string[] = []): boolean {
  return patterns.some((pattern) => pattern.replace(/^\+/, "") === name);
}

/** Tools with which the model follows up on what another tool has started. */
const followers = [
  { of: "bash", names: jobToolNames },
  { of: "task", names: subagentToolNames },
];

/** Adds the tools that belong to an active tool, even if no pattern names them, unless they are excluded. */
function withFollowers(
  all: readonly AgentTool[],
  active: readonly AgentTool[],
  patterns: readonly string[],
): AgentTool[] {
  const isActive = new Set(active);
  const isFollower = (name: string) =>
    followers.some(({ of, names }) => names.has(name) && active.some((tool) => tool.name === of));
  const removed = patterns.filter((pattern) => pattern.startsWith("-"));
  const isRemoved = (name: string) => removed.some((pattern) => fits(pattern.slice(1), name));
  return all.filter(
    (tool) => isActive.has(tool) || (isFollower(tool.name) && !isRemoved(tool.name)),
  );
}

/**
 * The active tools of MCP servers: all of them, unless a name or pattern of the selection refers to such tools. The
 * tools of a server that is not connected yet are unknown, so an unknown name is not an error.
 */
export function selectServerTools(
  tools: readonly AgentTool[],
  { only, exclude = [] }: ToolSelection = {},
  settings: Pick<SettingsStore, "get">,
): AgentTool[] {
  const patterns = (only ?? settings.get("defaultTools") ?? []).filter(isOfServers);
  const active = patterns.length === 0 ? tools : applyPatterns(tools, patterns);
  return active.filter(({ name }) => !exclude.some((pattern) => fits(pattern, name)));
}

function isOfServers(pattern: string): boolean {
  return /^[+-]?mcp__/.test(pattern);
}

/** Whether a selection excludes a tool by its name or a pattern. */
export function isTakenAway(
  { name }: AgentTool,
  { only, exclude = [] }: ToolSelection = {},
  settings: Pick<SettingsStore, "get">,
): boolean {
  const patterns = only ?? settings.get("defaultTools") ?? [];
  const removed = patterns.filter((pattern) => pattern.startsWith("-"));
  return [...exclude, ...removed.map((pattern) => pattern.slice(1))].some((pattern) =>
    fits(pattern, name),
  );
}

/** Whether a list of patterns, as in {@link ToolSelection}, includes a tool of this name; no list includes all. */
export function isSelected(name: string, patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || applyPatterns([{ name }], patterns).length > 0;
}

function applyPatterns<Tool extends Pick<AgentTool, "name">>(
  all: readonly Tool[],
  patterns: readonly string[],
): Tool[] {
  const plain = patterns.filter((pattern) => !/^[+-]/.test(pattern));
  const isWholeSet = plain.length > 0 || patterns.length === 0;
  const active = new Set(isWholeSet ? [] : all);
  for (const pattern of patterns) {
    const isMeant = starMatcher(pattern.replace(/^[+-]/, ""));
    for (const tool of all) {
      if (!isMeant(tool.name)) continue;
      if (pattern.startsWith("-")) active.delete(tool);
      else active.add(tool);
    }
  }
  return all.filter((tool) => active.has(tool));
}

function fits(pattern: string, name: string): boolean {
  return starMatcher(pattern)(name);
}

function unknownNames(patterns: readonly string[], all: readonly AgentTool[]): Diagnostic[] {
  return patterns
    .map((pattern) => pattern.replace(/^[+-]/, ""))
    .filter((pattern) => !isOfServers(pattern) && !all.some(({ name }) => fits(pattern, name)))
    .map((pattern) => {
      const names = all.map(({ name }) => name);
      const near = nearestHint(pattern, names);
      const reason = `no tool ${pattern}${near || `; known are ${names.join(", ")}`}`;
      const code = near === "" ? "tool_not_found" : "tool_misspelt";
      return { severity: "warning", code, message: `There is ${reason}`, reason, member: pattern };
    });
}
