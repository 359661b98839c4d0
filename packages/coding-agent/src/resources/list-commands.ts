import type { PromptResources } from "./resources.ts";

/** The source of a command, in the form that pi's newer clients read. */
export interface CommandSource {
  readonly path: string;
  readonly source: string;
  readonly scope: "user" | "project" | "temporary";
  readonly origin: "package" | "top-level";
  readonly baseDir?: string | undefined;
}

/** A command that a prompt may begin with. */
export interface CommandInfo {
  readonly name: string;
  readonly description?: string | undefined;
  readonly source: "extension" | "prompt" | "skill";
  readonly location?: "user" | "project" | "path" | undefined;
  /** The file it comes from. */
  readonly path?: string | undefined;
  /** The source of an extension's command; other commands have a location. */
  readonly sourceInfo?: CommandSource | undefined;
}

const locations = {
  user: "user",
  project: "project",
  temporary: "path",
  package: "path",
} as const;

/** The commands that expand to text: templates, and skills unless they are switched off. */
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
