import type { Diagnostic } from "@tau-agent/system";
import type { ContextFiles } from "./files/context-files.ts";
import { forgetFarLayout } from "./files/far-layout.ts";
import type {
  AddedPlaces,
  CustomPrompts,
  PromptResourcesOptions,
  ResourceReader,
} from "./read-resources.ts";
import type { LoadedRules } from "./rules/load-rules.ts";
import type { LoadedSkills, Skill } from "./skills/skills.ts";
import type { PromptSection, PromptTool, SystemPromptInput } from "./system-prompt.ts";
import type { LoadedTemplates, PromptTemplate } from "./templates/templates.ts";

interface Texts {
  readonly skills: LoadedSkills;
  readonly templates: LoadedTemplates;
  readonly contextFiles: ContextFiles;
  readonly custom: CustomPrompts;
  readonly rules: LoadedRules;
}

type Kept = { [Name in keyof Texts]?: Promise<Texts[Name]> | undefined };

/** Skills, templates, context files and the system prompt; each is read when first needed, then kept. */
export class PromptResources {
  readonly #options: PromptResourcesOptions;
  #kept: Kept = {};
  #added: AddedPlaces | undefined;
  #reader: Promise<ResourceReader> | undefined;

  constructor(options: PromptResourcesOptions) {
    this.#options = options;
  }

  async skills(): Promise<readonly Skill[]> {
    const loaded = this.#keep("skills", (reader) => reader.skills(this.#added));
    return (await loaded).skills;
  }

  async templates(): Promise<readonly PromptTemplate[]> {
    const loaded = this.#keep("templates", (reader) => reader.templates(this.#added));
    return (await loaded).templates;
  }

  async contextFiles(): Promise<ContextFiles["files"]> {
    return (await this.#keep("contextFiles", (reader) => reader.contextFiles())).files;
  }

  /** The rules that watch replies, with the problems of others. */
  rules(): Promise<LoadedRules> {
    return this.#keep("rules", (reader) => reader.rules());
  }

  /** Forgets everything that was read; the next access reads again. */
  reload(): void {
    const { disk } = this.#options;
    if (disk !== undefined) forgetFarLayout(disk);
    this.#kept = {};
  }

  /** Starts to read everything that a prompt needs, so that no part waits for a remote project. */
  readAhead(): void {
    const { settings } = this.#options;
    const rules = settings.get("ttsr.enabled") ? [this.rules()] : [];
    const asked = [
      this.contextFiles(),
      this.#customPrompts(),
      this.templates(),
      this.skills(),
      ...rules,
    ];
    // Failures are retried where the result is needed.
    for (const each of asked) each.catch(() => {});
  }

  addPaths(paths: AddedPlaces): void {
    this.#added = paths;
    this.#kept = { ...this.#kept, skills: undefined, templates: undefined };
  }

  /** Problems with the texts read so far; reads nothing. */
  async diagnostics(): Promise<readonly Diagnostic[]> {
    const { skills, templates, contextFiles, custom } = this.#kept;
    const loaded = await Promise.all([skills, templates, contextFiles, custom]);
    return loaded.flatMap((part) => part?.diagnostics ?? []);
  }

  /** Replaces a leading `/skill:name` or `/template` with its text. */
  expand(text: string): Promise<string> {
    return this.#read((reader) =>
      reader.expand(text, {
        skills: () => this.skills(),
        templates: () => this.templates(),
        skillText: (skill) => reader.skillText(skill),
        hasSkillCommands: this.#options.settings.get("enableSkillCommands"),
      }),
    );
  }

  async systemPrompt(
    tools: readonly PromptTool[],
    sections: readonly PromptSection[] = [],
  ): Promise<string> {
    const input = { ...(await this.promptInput(tools)), sections };
    return this.#read((reader) => reader.buildSystemPrompt(input));
  }

  async promptInput(tools: readonly PromptTool[]): Promise<SystemPromptInput> {
    const [skills, contextFiles, { custom, appended }] = await Promise.all([
      this.skills(),
      this.contextFiles(),
      this.#customPrompts(),
    ]);
    const { workingFolder, additionalDirectories = [] } = this.#options;
    const { cwd } = workingFolder ?? this.#options;
    const texts = { customPrompt: custom, appendPrompts: appended, contextFiles, skills };
    return { tools, cwd, additionalDirectories, ...texts };
  }

  #customPrompts(): Promise<CustomPrompts> {
    return this.#keep("custom", (reader) => reader.customPrompts());
  }

  /** Reads once, and again if that failed because the project could not be reached. */
  #keep<Name extends keyof Texts>(
    name: Name,
    read: (reader: ResourceReader) => Promise<Texts[Name]>,
  ): Promise<Texts[Name]> {
    const kept: Kept = this.#kept;
    const known = kept[name];
    if (known !== undefined) return known;
    const loading = this.#read(read);
    kept[name] = loading as Kept[Name];
    loading.catch(() => {
      if (kept[name] === loading) kept[name] = undefined;
    });
    return loading;
  }

  async #read<Value>(work: (reader: ResourceReader) => Value | Promise<Value>): Promise<Value> {
    this.#reader ??= import("./read-resources.ts").then(
      ({ ResourceReader }) => new ResourceReader(this.#options),
    );
    return work(await this.#reader);
  }
}
