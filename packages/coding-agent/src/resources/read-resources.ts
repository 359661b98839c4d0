import { join } from "node:path";
import { type Diagnostic, readTextFile, type SettingsStore } from "@tau-agent/system";
import { expandPrompt } from "./expand.ts";
import { type ContextFiles, loadContextFiles } from "./files/context-files.ts";
import {
  absolutePath,
  expandPlaces,
  kindOf,
  type ResourceDirs,
  type ResourcePlace,
  settingPlaces,
} from "./files/places.ts";
import { readBoundText, textBoundsOf } from "./files/text-bounds.ts";
import type { LoadedRules } from "./rules/load-rules.ts";
import { type LoadedSkills, loadSkills } from "./skills/skills.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { type LoadedTemplates, loadTemplates } from "./templates/templates.ts";

export interface PromptResourcesOptions extends ResourceDirs {
  readonly settings: SettingsStore;
  /** The folder whose texts count, when it may be another than `cwd`; asked for at each reading. */
  readonly workingFolder?: { readonly cwd: string } | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
  /** Where relative paths among the following start; default `cwd`. */
  readonly baseDirectory?: string | undefined;
  readonly skillPaths?: readonly string[];
  readonly templatePaths?: readonly string[];
  /** What `-e` names: packages among it bring skills and templates, too. */
  readonly packagePaths?: readonly string[] | undefined;
  /** `--no-skills`, `--no-prompt-templates`, `--no-context-files`: only what flags name is loaded. */
  readonly noSkills?: boolean;
  readonly noTemplates?: boolean;
  readonly noContextFiles?: boolean;
  /** Context files instead of those that are found. */
  readonly contextFiles?: ContextFiles["files"];
  /** Text, or the path of a file with it; stronger than `SYSTEM.md`. */
  readonly systemPrompt?: string | undefined;
  /** Texts or paths; stronger than `APPEND_SYSTEM.md`. */
  readonly appendSystemPrompts?: readonly string[];
}

/** Places that extensions have named. */
export interface AddedPlaces {
  readonly skillPaths: readonly string[];
  readonly promptPaths: readonly string[];
}

export interface CustomPrompts {
  readonly custom: string | undefined;
  readonly appended: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the texts of a session; a host that has just started reads none (row `start`). */
export class ResourceReader {
  readonly #options: PromptResourcesOptions;

  constructor(options: PromptResourcesOptions) {
    this.#options = options;
  }

  /** Replaces a leading `/skill:name` or `/template` by its text. */
  readonly expand = expandPrompt;

  readonly buildSystemPrompt = buildSystemPrompt;

  /** Skills, also from added places. */
  async skills(added: AddedPlaces | undefined): Promise<LoadedSkills> {
    const { settings, homeDirectory, skillPaths, noSkills = false } = this.#options;
    const flags = [
      ...this.#flagPlaces([...(skillPaths ?? []), ...(added?.skillPaths ?? [])]),
      ...(await this.#namedPackages("skills")),
    ];
    if (noSkills) return loadSkills(this.#dirs, flags, { onlyNamed: true });
    const { places, excludes } = settingPlaces(settings.resources("skills"), homeDirectory);
    const named = await expandPlaces([...places, ...(await this.#packaged("skills"))]);
    return loadSkills(this.#dirs, [...flags, ...named], { excludes });
  }

  /** Templates, also from added places. */
  async templates(added: AddedPlaces | undefined): Promise<LoadedTemplates> {
    const { settings, homeDirectory, templatePaths, noTemplates = false } = this.#options;
    const flags = [
      ...this.#flagPlaces([...(templatePaths ?? []), ...(added?.promptPaths ?? [])]),
      ...(await this.#namedPackages("prompts")),
    ];
    if (noTemplates) return loadTemplates(this.#dirs, flags, { onlyNamed: true });
    const { places, excludes } = settingPlaces(settings.resources("prompts"), homeDirectory);
    const named = await expandPlaces([...places, ...(await this.#packaged("prompts"))]);
    return loadTemplates(this.#dirs, [...flags, ...named], { excludes });
  }

  async rules(): Promise<LoadedRules> {
    const { loadRules } = await import("./rules/load-rules.ts");
    return loadRules(this.#dirs);
  }

  /** Instructions of the project and the user. */
  async contextFiles(): Promise<ContextFiles> {
    const { noContextFiles = false, contextFiles } = this.#options;
    if (contextFiles !== undefined) return { files: contextFiles, diagnostics: [] };
    return noContextFiles ? { files: [], diagnostics: [] } : loadContextFiles(this.#dirs);
  }

  /** `SYSTEM.md`, `APPEND_SYSTEM.md`, or what replaces them. */
  async customPrompts(): Promise<CustomPrompts> {
    const { systemPrompt, appendSystemPrompts } = this.#options;
    const diagnostics: Diagnostic[] = [];
    const [custom, appended] = await Promise.all([
      systemPrompt === undefined
        ? this.#standardFile("SYSTEM.md", diagnostics)
        : this.#textOrFile(systemPrompt, diagnostics),
      appendSystemPrompts === undefined || appendSystemPrompts.length === 0
        ? this.#standardFile("APPEND_SYSTEM.md", diagnostics).then((text) => [text])
        : Promise.all(appendSystemPrompts.map((text) => this.#textOrFile(text, diagnostics))),
    ]);
    return { custom, appended: appended.filter((text) => text !== undefined), diagnostics };
  }

  get #dirs(): ResourceDirs {
    const { agentDirectory, homeDirectory, workingFolder } = this.#options;
    return { agentDirectory, homeDirectory, cwd: workingFolder?.cwd ?? this.#options.cwd };
  }

  get #baseDirectory(): string {
    return this.#options.baseDirectory ?? this.#options.cwd;
  }

  #flagPlaces(paths: readonly string[] = []): ResourcePlace[] {
    const { homeDirectory } = this.#options;
    return paths.map((path) => ({
      path: absolutePath(path, this.#baseDirectory, homeDirectory),
      scope: "temporary",
      isNamed: true,
    }));
  }

  async #packaged(kind: "skills" | "prompts"): Promise<ResourcePlace[]> {
    const { settings } = this.#options;
    if (settings.packages.length === 0) return [];
    const { findPackages } = await import("./packages/find-packages.ts");
    const { packages } = await findPackages(settings, this.#options);
    return packages.flatMap(({ parts }) =>
      parts[kind].places.map((path) => {
        const { includes } = parts[kind];
        return { path, scope: "package" as const, isNamed: false, includes };
      }),
    );
  }

  /** What packages bring of one kind that were named for this session; they count like flags. */
  async #namedPackages(kind: "skills" | "prompts"): Promise<ResourcePlace[]> {
    const places: ResourcePlace[] = [];
    for (const path of this.#options.packagePaths ?? []) {
      if (/\.[cm]?[jt]sx?$/.test(path)) continue;
      const { findNamedPackage } = await import("./packages/find-packages.ts");
      const { settings, homeDirectory } = this.#options;
      const source = /^\w+:/.test(path)
        ? path
        : absolutePath(path, this.#baseDirectory, homeDirectory);
      const found = await findNamedPackage(source, this.#options, settings.isProjectTrusted);
      // Its problems are reported where its extensions are looked for.
      if ("message" in found) continue;
      const { includes } = found.parts[kind];
      const own = { scope: "temporary" as const, isNamed: true, includes };
      places.push(...found.parts[kind].places.map((place) => ({ ...own, path: place })));
    }
    return expandPlaces(places);
  }

  /** The project's file of this name, else the user's. */
  async #standardFile(name: string, diagnostics: Diagnostic[]): Promise<string | undefined> {
    const { agentDirectory, cwd } = this.#dirs;
    const bounds = textBoundsOf(this.#dirs);
    for (const dir of [join(cwd, ".pi"), join(cwd, ".pi", "agent"), agentDirectory]) {
      const origin = dir === agentDirectory ? "own" : "project";
      const file = await readBoundText(join(dir, name), origin, bounds);
      if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
      if (file.kind === "text") return file.text.trim() === "" ? undefined : file.text;
    }
    return undefined;
  }

  async #textOrFile(value: string, diagnostics: Diagnostic[]): Promise<string> {
    const { homeDirectory } = this.#options;
    // No path has line ends, and none is this long: such a text is not looked up.
    if (value.includes("\n") || value.length > 4096) return value;
    const path = absolutePath(value, this.#baseDirectory, homeDirectory);
    if ((await kindOf(path)) !== "file") return value;
    const file = await readTextFile(path);
    if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
    return file.kind === "text" ? file.text : value;
  }
}
