import { escapeXml } from "@tau-agent/system";
import type { ContextFile } from "./files/context-files.ts";
import type { Skill } from "./skills/skills.ts";

export interface PromptTool {
  readonly name: string;
  readonly promptSnippet?: string;
  readonly promptGuidelines?: readonly string[];
}

export interface PromptSection {
  /** The name of the tag around the text. */
  readonly name: string;
  readonly text: string;
}

export interface SystemPromptInput {
  /** Active tools, in the order in which they are sent to the model. */
  readonly tools: readonly PromptTool[];
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  /** Replaces the preamble, the tools and the rules. */
  readonly customPrompt?: string | undefined;
  /** Added after the rules. */
  readonly appendPrompts?: readonly string[];
  readonly contextFiles?: readonly ContextFile[];
  readonly skills?: readonly Skill[];
  readonly sections?: readonly PromptSection[];
  readonly guidelines?: readonly string[];
}

const preamble = `You are a coding agent in the user's project. Use your tools until what was asked is done and checked, then say what you did, found and left undone.`;

const generalRules = [
  "Read the code a change touches first; fix causes, not symptoms.",
  "After a change, run what shows that it works: tests, build.",
  "Be brief; give paths.",
];

/** Tools that can open a skill's file. */
const readingTools: ReadonlySet<string> = new Set(["read", "bash"]);

function wrap(name: string, text: string): string {
  return `<${name}>\n${text}\n</${name}>`;
}

function bullets(lines: Iterable<string>): string {
  return [...lines].map((line) => `- ${line}`).join("\n");
}

/** The request declares every tool with its description; the list only has what tools add to that. */
function toolsSection(tools: readonly PromptTool[]): string | undefined {
  if (tools.length === 0) return wrap("tools", "No tools are active.");
  const lines = tools.flatMap(({ name, promptSnippet }) =>
    promptSnippet === undefined ? [] : [`${name}: ${promptSnippet}`],
  );
  return lines.length === 0 ? undefined : wrap("tools", bullets(lines));
}

function rulesSection(tools: readonly PromptTool[], guidelines: readonly string[]): string {
  const own = tools.flatMap(({ promptGuidelines = [] }) => promptGuidelines);
  const rules = [...own, ...guidelines, ...generalRules].map((rule) => rule.trim());
  return wrap("rules", bullets(new Set(rules.filter((rule) => rule !== ""))));
}

function contextSection(files: readonly ContextFile[]): string | undefined {
  if (files.length === 0) return undefined;
  const blocks = files.map(
    ({ path, content }) =>
      `<project_instructions path="${escapeXml(path)}">\n${content}\n</project_instructions>`,
  );
  const intro =
    "Instructions of the user and the project. Where two disagree, the later one counts.";
  return wrap("project_context", [intro, ...blocks].join("\n\n"));
}

function skillsSection(skills: readonly Skill[], tools: readonly PromptTool[]): string | undefined {
  const shown = skills.filter((skill) => !skill.isHiddenFromModel);
  const canRead = tools.some(({ name }) => readingTools.has(name));
  if (shown.length === 0 || !canRead) return undefined;
  const opener = tools.some(({ name }) => name === "read") ? "the read tool" : "bash";
  const intro = `Each skill below holds instructions for one kind of task. When a task fits a description, open the skill's file with ${opener} first and follow it. Relative paths in it start at the folder the file is in.`;
  const entries = shown.map(({ name, description, filePath }) =>
    [
      "  <skill>",
      `    <name>${escapeXml(name)}</name>`,
      `    <description>${escapeXml(description)}</description>`,
      `    <location>${escapeXml(filePath)}</location>`,
      "  </skill>",
    ].join("\n"),
  );
  const list = wrap("available_skills", entries.join("\n"));
  return wrap("skills", `${intro}\n\n${list}`);
}

function foldersSection(folders: readonly string[]): string | undefined {
  if (folders.length === 0) return undefined;
  const intro = "These folders belong to the project, too. Name files in them by absolute paths.";
  const paths = folders.map((path) => path.replaceAll("\\", "/"));
  return wrap("additional_folders", `${intro}\n${bullets(paths)}`);
}

/**
 * Builds the system prompt. The same input gives the same bytes, without any date or time: the
 * prompt is the start of every request, and prompt caches depend on its bytes.
 */
export function buildSystemPrompt(input: SystemPromptInput): string {
  const { tools, customPrompt, appendPrompts = [], sections = [], guidelines = [] } = input;
  const head =
    customPrompt === undefined
      ? [preamble, toolsSection(tools), rulesSection(tools, guidelines)]
      : [customPrompt.trim()];
  const added = appendPrompts.map((text) => text.trim()).filter((text) => text !== "");
  const parts = [
    ...head,
    added.length === 0 ? undefined : wrap("addendum", added.join("\n\n")),
    contextSection(input.contextFiles ?? []),
    skillsSection(input.skills ?? [], tools),
    wrap("cwd", input.cwd.replaceAll("\\", "/")),
    foldersSection(input.additionalDirectories ?? []),
    ...sections.map(({ name, text }) => wrap(name, text.trim())),
  ];
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
