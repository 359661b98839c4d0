import {
  type Diagnostic,
  readTextFile,
  readTextIn,
  type SettingsStore,
  type TextFile,
} from "@tau-agent/system";
import { expandPrompt } from "./expand.ts";
import { type ContextFiles, loadContextFiles } from "./files/context-files.ts";
import { askEach, kindOf } from "./files/disk.ts";
import {
  absolutePath,
  type Disks,
  disksOf,
  expandPlaces,
  type LoadOptions,
  type ResourceDirs,
  type ResourcePlace,
  settingPlaces,
} from "./files/places.ts";
import { textBoundsOf } from "./files/project-bounds.ts";
import { readBoundText } from "./files/text-bounds.ts";
import type { LoadedRules } from "./rules/load-rules.ts";
import { type LoadedSkills, loadSkills, type Skill } from "./skills/skills.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { type LoadedTemplates, loadTemplates } from "./templates/templates.ts";

export interface PromptResourcesOptions extends ResourceDirs {
  readonly settings: SettingsStore;
  /** The folder whose texts are used, if it may differ from `cwd`; read each time. */
  readonly workingFolder?: { readonly cwd: string } | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
  /** The base of the following relative paths; default `cwd`. */
  readonly baseDirectory?: string | undefined;
  readonly skillPaths?: readonly string[];
  readonly templatePaths?: readonly string[];
  /** The paths of `-e`: packages among them also provide skills and templates. */
  readonly packagePaths?: readonly string[] | undefined;
  /** `--no-skills`, `--no-prompt-templates`, `--no-context-files`: only what flags name is loaded. */
  readonly noSkills?: boolean;
  readonly noTemplates?: boolean;
  readonly noContextFiles?: boolean;
  /** Context files to use instead of discovered ones. */
  readonly contextFiles?: ContextFiles["files"];
  /** A text, or the path of a file with it; takes precedence over `SYSTEM.md`. */
  readonly systemPrompt?: string | undefined;
  /** Texts or paths; take precedence over `APPEND_SYSTEM.md`. */
  readonly appendSystemPrompts?: readonly string[];
}

/** Places that extensions have added. */
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

  /** Replaces a leading `/skill:name` or `/template` with its text. */
  readonly expand = expandPrompt;

  readonly buildSystemPrompt = buildSystemPrompt;

  /** Skills, including those in added places. */
  skills(added: AddedPlaces | undefined): Promise<LoadedSkills> {
    const { skillPaths = [], noSkills = false } = this.#options;
    const paths = [...skillPaths, ...(added?.skillPaths ?? [])];
    return this.#load("skills", paths, noSkills, loadSkills);
  }

  /** Templates, including those in added places. */
  templates(added: AddedPlaces | undefined): Promise<LoadedTemplates> {
    const { templatePaths = [], noTemplates = false } = this.#options;
    const paths = [...templatePaths, ...(added?.promptPaths ?? [])];
    return this.#load("prompts", paths, noTemplates, loadTemplates);
  }

  /** The current content of a skill's file. */
  skillText({ filePath, isElsewhere }: Skill): Promise<TextFile> {
    const { project } = this.#disks;
    return isElsewhere ? readTextIn(project.files, filePath) : readTextFile(filePath);
  }

  async rules(): Promise<LoadedRules> {
    const { loadRules } = await import("./rules/load-rules.ts");
    return loadRules(this.#dirs);
  }

  /** Instructions from the project and the user. */
  async contextFiles(): Promise<ContextFiles> {
    const { noContextFiles = false, contextFiles } = this.#options;
    if (contextFiles !== undefined) return { files: contextFiles, diagnostics: [] };
    return noContextFiles ? { files: [], diagnostics: [] } : loadContextFiles(this.#dirs);
  }

  /** `SYSTEM.md` and `APPEND_SYSTEM.md`, or their replacements. */
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
    const { agentDirectory, homeDirectory, workingFolder, disk } = this.#options;
    return { agentDirectory, homeDirectory, disk, cwd: workingFolder?.cwd ?? this.#options.cwd };
  }

  get #packageDirs() {
    const { agentDirectory, homeDirectory, disk, cwd } = this.#options;
    return { agentDirectory, homeDirectory, cwd, isProjectElsewhere: disk !== undefined };
  }

  get #disks(): Disks {
    return disksOf(this.#options);
  }

  get #baseDirectory(): string {
    return this.#options.baseDirectory ?? this.#options.cwd;
  }

  /** Loads what flags name and, unless only that is wanted, what settings, packages and folders contain. */
  async #load<Loaded>(
    kind: "skills" | "prompts",
    paths: readonly string[],
    onlyNamed: boolean,
    load: (
      dirs: ResourceDirs,
      named: readonly ResourcePlace[],
      options: LoadOptions,
    ) => Promise<Loaded>,
  ): Promise<Loaded> {
    const flags = [...this.#flagPlaces(paths), ...(await this.#namedPackages(kind))];
    if (onlyNamed) return load(this.#dirs, flags, { onlyNamed });
    const resources = this.#options.settings.resources(kind);
    const { places, excludes } = settingPlaces(resources, this.#disks);
    const named = await expandPlaces([...places, ...(await this.#packaged(kind))]);
    return load(this.#dirs, [...flags, ...named], { excludes });
  }

  #flagPlaces(paths: readonly string[]): ResourcePlace[] {
    const { homeDirectory } = this.#options;
    return paths.map((path) => ({
      path: absolutePath(path, this.#baseDirectory, homeDirectory),
      disk: this.#disks.host,
      scope: "temporary",
      isNamed: true,
    }));
  }

  async #packaged(kind: "skills" | "prompts"): Promise<ResourcePlace[]> {
    const { settings } = this.#options;
    if (settings.packages.length === 0) return [];
    const { findPackages } = await import("./packages/find-packages.ts");
    const { packages } = await findPackages(settings, this.#packageDirs);
    return packages.flatMap(({ parts }) =>
      parts[kind].places.map((path) => {
        const { includes } = parts[kind];
        const disk = this.#disks.host;
        return { path, disk, scope: "package" as const, isNamed: false, includes };
      }),
    );
  }

  /** One kind of resources in packages that were named for this session; they count like flags. */
  async #namedPackages(kind: "skills" | "prompts"): Promise<ResourcePlace[]> {
    const places: ResourcePlace[] = [];
    for (const path of this.#options.packagePaths ?? []) {
      if (/\.[cm]?[jt]sx?$/.test(path)) continue;
      const { findNamedPackage } = await import("./packages/find-packages.ts");
      const { settings, homeDirectory } = this.#options;
      const source = /^\w+:/.test(path)
        ? path
        : absolutePath(path, this.#baseDirectory, homeDirectory);
      const found = await findNamedPackage(source, this.#packageDirs, settings.isProjectTrusted);
      // Its problems are reported where its extensions are discovered.
      if ("message" in found) continue;
      const { includes } = found.parts[kind];
      const { host: disk } = this.#disks;
      const own = { disk, scope: "temporary" as const, isNamed: true, includes };
      places.push(...found.parts[kind].places.map((place) => ({ ...own, path: place })));
    }
    return expandPlaces(places);
  }

  /** The project's file of this name, or else the user's. */
  async #standardFile(name: string, diagnostics: Diagnostic[]): Promise<string | undefined> {
    const { agentDirectory, cwd } = this.#dirs;
    const { host, project } = this.#disks;
    const { join } = project.path;
    const bounds = await textBoundsOf(this.#dirs);
    const places = [
      ...[join(cwd, ".pi"), join(cwd, ".pi", "agent")].map((dir) => ({ dir, disk: project })),
      { dir: agentDirectory, disk: host },
    ];
    const read = askEach(
      places,
      ({ disk }) => disk,
      ({ dir, disk }) => {
        const origin = disk === host && dir === agentDirectory ? "own" : "project";
        return readBoundText(disk.path.join(dir, name), origin, bounds, { disk });
      },
    );
    for (const answer of read) {
      const file = await answer();
      if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
      if (file.kind === "text") return file.text.trim() === "" ? undefined : file.text;
    }
    return undefined;
  }

  async #textOrFile(value: string, diagnostics: Diagnostic[]): Promise<string> {
    const { homeDirectory } = this.#options;
    // Paths have no line breaks and are not this long, so such a text is not looked up.
    if (value.includes("\n") || value.length > 4096) return value;
    const path = absolutePath(value, this.#baseDirectory, homeDirectory);
    if ((await kindOf(this.#disks.host, path)) !== "file") return value;
    const file = await readTextFile(path);
    if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
    return file.kind === "text" ? file.text : value;
  }
}
