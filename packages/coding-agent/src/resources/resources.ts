import { join } from "node:path";
import type { Diagnostic } from "../base/diagnostic.ts";
import { readTextFile } from "../base/files/read-text.ts";
import type { SettingsStore } from "../settings/store.ts";
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
import { type LoadedSkills, loadSkills, type Skill } from "./skills/skills.ts";
import {
  buildSystemPrompt,
  type PromptSection,
  type PromptTool,
  type SystemPromptInput,
} from "./system-prompt.ts";
import { type LoadedTemplates, loadTemplates, type PromptTemplate } from "./templates/templates.ts";

/** Where a session's texts come from. */
export interface PromptResourcesOptions extends ResourceDirs {
  readonly settings: SettingsStore;
  /** The folder whose texts count, when it may be another than `cwd`; asked for at each reading. */
  readonly workingFolder?: { readonly cwd: string } | undefined;
  /** Where relative paths among the following start; default `cwd`. */
  readonly baseDirectory?: string | undefined;
  /** `--skill` and `--prompt-template`. */
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

interface CustomPrompts {
  readonly custom: string | undefined;
  readonly appended: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Skills, templates, context files and the system prompt; each read when first needed, then kept. */
export class PromptResources {
  readonly #options: PromptResourcesOptions;
  #skills: Promise<LoadedSkills> | undefined;
  #templates: Promise<LoadedTemplates> | undefined;
  #contextFiles: Promise<ContextFiles> | undefined;
  #custom: Promise<CustomPrompts> | undefined;
  #rules: Promise<LoadedRules> | undefined;
  /** Places that extensions have named. */
  #added: { skillPaths: readonly string[]; promptPaths: readonly string[] } | undefined;

  constructor(options: PromptResourcesOptions) {
    this.#options = options;
  }

  async skills(): Promise<readonly Skill[]> {
    this.#skills ??= this.#loadSkills();
    return (await this.#skills).skills;
  }

  async templates(): Promise<readonly PromptTemplate[]> {
    this.#templates ??= this.#loadTemplates();
    return (await this.#templates).templates;
  }

  async contextFiles(): Promise<ContextFiles["files"]> {
    this.#contextFiles ??= this.#loadContextFiles();
    return (await this.#contextFiles).files;
  }

  /** The rules that watch replies, with what was wrong with others. */
  rules(): Promise<LoadedRules> {
    this.#rules ??= this.#loadRules();
    return this.#rules;
  }

  /** Forgets everything read; the next question reads again. */
  reload(): void {
    this.#skills = undefined;
    this.#templates = undefined;
    this.#contextFiles = undefined;
    this.#custom = undefined;
    this.#rules = undefined;
  }

  /** Further places of skills and templates; replaces those given before. */
  addPaths(paths: { skillPaths: readonly string[]; promptPaths: readonly string[] }): void {
    this.#added = paths;
    this.#skills = undefined;
    this.#templates = undefined;
  }

  /** What was wrong with the texts read so far; reads nothing. */
  async diagnostics(): Promise<readonly Diagnostic[]> {
    const parts = [this.#skills, this.#templates, this.#contextFiles, this.#custom];
    const loaded = await Promise.all(parts);
    return loaded.flatMap((part) => part?.diagnostics ?? []);
  }

  /** Replaces a leading `/skill:name` or `/template` by its text; see {@link expandPrompt}. */
  expand(text: string): Promise<string> {
    return expandPrompt(text, {
      skills: () => this.skills(),
      templates: () => this.templates(),
      hasSkillCommands: this.#options.settings.get("enableSkillCommands"),
    });
  }

  /** The system prompt for these active tools. */
  async systemPrompt(
    tools: readonly PromptTool[],
    sections: readonly PromptSection[] = [],
  ): Promise<string> {
    return buildSystemPrompt({ ...(await this.promptInput(tools)), sections });
  }

  /** What the system prompt for these active tools is made of. */
  async promptInput(tools: readonly PromptTool[]): Promise<SystemPromptInput> {
    this.#custom ??= this.#loadCustom();
    const [skills, contextFiles, { custom, appended }] = await Promise.all([
      this.skills(),
      this.contextFiles(),
      this.#custom,
    ]);
    const { cwd } = this.#dirs;
    return { tools, cwd, customPrompt: custom, appendPrompts: appended, contextFiles, skills };
  }

  get #dirs(): ResourceDirs {
    return this.#dirsOf(this.#options.workingFolder?.cwd ?? this.#options.cwd);
  }

  get #baseDirectory(): string {
    return this.#options.baseDirectory ?? this.#options.cwd;
  }

  #dirsOf(cwd: string): ResourceDirs {
    const { agentDirectory, homeDirectory } = this.#options;
    return { agentDirectory, homeDirectory, cwd };
  }

  #flagPlaces(paths: readonly string[] = []): ResourcePlace[] {
    const { homeDirectory } = this.#options;
    return paths.map((path) => ({
      path: absolutePath(path, this.#baseDirectory, homeDirectory),
      scope: "temporary",
      isNamed: true,
    }));
  }

  /** What installed packages bring of one kind. */
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

  async #loadSkills(): Promise<LoadedSkills> {
    const { settings, homeDirectory, skillPaths, noSkills = false } = this.#options;
    const flags = [
      ...this.#flagPlaces([...(skillPaths ?? []), ...(this.#added?.skillPaths ?? [])]),
      ...(await this.#namedPackages("skills")),
    ];
    if (noSkills) return loadSkills(this.#dirs, flags, { onlyNamed: true });
    const { places, excludes } = settingPlaces(settings.resources("skills"), homeDirectory);
    const named = await expandPlaces([...places, ...(await this.#packaged("skills"))]);
    return loadSkills(this.#dirs, [...flags, ...named], { excludes });
  }

  async #loadTemplates(): Promise<LoadedTemplates> {
    const { settings, homeDirectory, templatePaths, noTemplates = false } = this.#options;
    const flags = [
      ...this.#flagPlaces([...(templatePaths ?? []), ...(this.#added?.promptPaths ?? [])]),
      ...(await this.#namedPackages("prompts")),
    ];
    if (noTemplates) return loadTemplates(this.#dirs, flags, { onlyNamed: true });
    const { places, excludes } = settingPlaces(settings.resources("prompts"), homeDirectory);
    const named = await expandPlaces([...places, ...(await this.#packaged("prompts"))]);
    return loadTemplates(this.#dirs, [...flags, ...named], { excludes });
  }

  async #loadRules(): Promise<LoadedRules> {
    const { loadRules } = await import("./rules/load-rules.ts");
    return loadRules(this.#dirs);
  }

  async #loadContextFiles(): Promise<ContextFiles> {
    const { noContextFiles = false, contextFiles } = this.#options;
    if (contextFiles !== undefined) return { files: contextFiles, diagnostics: [] };
    return noContextFiles ? { files: [], diagnostics: [] } : loadContextFiles(this.#dirs);
  }

  async #loadCustom(): Promise<CustomPrompts> {
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
