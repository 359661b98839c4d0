import { SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  escapeXml,
  parseTemplateArguments,
  substituteArguments,
  type TextFile,
} from "@tau-agent/system";
import { parseFrontmatter } from "./files/frontmatter.ts";
import type { Skill } from "./skills/skills.ts";
import type { PromptTemplate } from "./templates/templates.ts";

/** The sources of texts for commands; queried only if a prompt starts with a command. */
export interface ExpansionSources {
  skills(): Promise<readonly Skill[]>;
  templates(): Promise<readonly PromptTemplate[]>;
  /** The current content of a skill's file. */
  skillText(skill: Skill): Promise<TextFile>;
  /** The setting `enableSkillCommands`; default true. */
  readonly hasSkillCommands?: boolean;
}

/**
 * Replaces `/skill:name arguments` by the skill's text and `/name arguments` by the template. Any
 * other text, including an unknown command, is returned unchanged.
 * @throws {SessionError} `skill_unreadable` if the skill's file no longer exists.
 */
export async function expandPrompt(text: string, sources: ExpansionSources): Promise<string> {
  const command = /^\/(skill:)?([^\s/]+)(?:\s+([\s\S]*))?$/.exec(text);
  if (command === null) return text;
  const [, isSkill, name = "", rest = ""] = command;
  if (isSkill !== undefined) {
    if (sources.hasSkillCommands === false) return text;
    const skill = (await sources.skills()).find((candidate) => candidate.name === name);
    return skill === undefined
      ? text
      : expandSkill(skill, await sources.skillText(skill), rest.trim());
  }
  const template = (await sources.templates()).find((candidate) => candidate.name === name);
  return template === undefined
    ? text
    : substituteArguments(template.body, parseTemplateArguments(rest));
}

async function expandSkill(skill: Skill, file: TextFile, rest: string): Promise<string> {
  if (file.kind !== "text") {
    const reason = file.kind === "missing" ? "the file is gone" : file.diagnostic.message;
    throw new SessionError("skill_unreadable", { name: skill.name, path: skill.filePath, reason });
  }
  const { body } = await parseFrontmatter(file.text);
  const opening = `<skill name="${escapeXml(skill.name)}" location="${escapeXml(skill.filePath)}">`;
  const block = `${opening}\nReferences are relative to ${skill.baseDir}.\n\n${body}\n</skill>`;
  return rest === "" ? block : `${block}\n\n${rest}`;
}
