import type { PromptResources } from "./resources.ts";

/** Where a command comes from, as pi's newer clients read it. */
export interface CommandSource {
  readonly path: string;
  readonly source: string;
  readonly scope: "user" | "project" | "temporary";
  readonly origin: "package" | "top-level";
  readonly baseDir?: string | undefined;
}

/** A command a prompt may begin with. */
export interface CommandInfo {
  readonly name: string;
  readonly description?: string | undefined;
  readonly source: "extension" | "prompt" | "skill";
  readonly location?: "user" | "project" | "path" | undefined;
  /** The file it comes from. */
  readonly path?: string | undefined;
  /** Where an extension's command comes from; the others have a location. */
  readonly sourceInfo?: CommandSource | undefined;
}

const locations = {
  user: "user",
  project: "project",
  temporary: "path",
  package: "path",
} as const;

/** The commands that stand for a text: templates, and skills unless they are switched off. */
export async function listTextCommands(
  resources: PromptResources,
  hasSkillCommands: boolean,
): Promise<CommandInfo[]> {
  const [templates, skills] = await Promise.all([
    resources.templates(),
    hasSkillCommands ? resources.skills() : [],
  ]);
  return [
    ...templates.map(({ name, description, scope, filePath }) => ({
      name,
      description,
      source: "prompt" as const,
      location: locations[scope],
      path: filePath,
    })),
    ...skills.map(({ name, description, scope, filePath }) => ({
      name: `skill:${name}`,
      description,
      source: "skill" as const,
      location: locations[scope],
      path: filePath,
    })),
  ];
}
