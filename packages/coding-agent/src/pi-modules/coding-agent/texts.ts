import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readTextFileNow } from "@tau-agent/system";
import { splitFrontmatter } from "../../resources/files/frontmatter.ts";

interface PiSkill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
  readonly baseDir: string;
  readonly source: string;
  readonly disableModelInvocation: boolean;
}

/** Synchronous functions for Markdown files with frontmatter and for skills. */
export async function piTexts() {
  const { parse } = await import("yaml");
  const parseFrontmatter = (text: string) => {
    const { yaml, body } = splitFrontmatter(text);
    return { frontmatter: (parse(yaml) ?? {}) as Record<string, unknown>, body };
  };
  const readSkill = (filePath: string, source: string): PiSkill | undefined => {
    try {
      const file = readTextFileNow(filePath);
      if (file.kind !== "text") return undefined;
      const { frontmatter } = parseFrontmatter(file.text);
      const { name, description } = frontmatter as { name?: unknown; description?: unknown };
      if (typeof description !== "string") return undefined;
      const baseDir = dirname(filePath);
      return {
        name: typeof name === "string" ? name : basename(baseDir),
        description,
        filePath,
        baseDir,
        source,
        disableModelInvocation: frontmatter["disable-model-invocation"] === true,
      };
    } catch {
      return undefined;
    }
  };
  const loadSkillsFromDir = ({ dir, source = "path" }: { dir: string; source?: string }) => ({
    skills: skillFiles(dir)
      .map((path) => readSkill(path, source))
      .filter((skill) => skill !== undefined),
    diagnostics: [],
    warnings: [],
  });
  return {
    parseFrontmatter,
    stripFrontmatter: (text: string) => parseFrontmatter(text).body,
    loadSkillsFromDir,
    formatSkillsForPrompt,
  };
}

function skillFiles(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    if (entries.some(({ name }) => name === "SKILL.md")) return [join(dir, "SKILL.md")];
    return entries
      .filter((entry) => entry.isDirectory() && !/^(\.|node_modules$)/.test(entry.name))
      .flatMap(({ name }) => skillFiles(join(dir, name)));
  } catch {
    return [];
  }
}

function formatSkillsForPrompt(skills: readonly PiSkill[]): string {
  const rows = skills
    .filter((skill) => !skill.disableModelInvocation)
    .map(
      ({ name, description, filePath }) =>
        `  <skill>\n    <name>${name}</name>\n    <description>${description}</description>\n    <location>${filePath}</location>\n  </skill>`,
    );
  return rows.length === 0 ? "" : `<available_skills>\n${rows.join("\n")}\n</available_skills>`;
}
