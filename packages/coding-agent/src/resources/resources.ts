import type { Diagnostic } from "@tau-agent/system";
import type { ContextFiles } from "./files/context-files.ts";
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

/** Skills, templates, context files and the system prompt; each read when first needed, then kept. */
export class PromptResources {
  readonly #options: PromptResourcesOptions;
  #skills: Promise<LoadedSkills> | undefined;
  #templates: Promise<LoadedTemplates> | undefined;
  #contextFiles: Promise<ContextFiles> | undefined;
  #custom: Promise<CustomPrompts> | undefined;
  #rules: Promise<LoadedRules> | undefined;
  #added: AddedPlaces | undefined;
  #reader: Promise<ResourceReader> | undefined;

  constructor(options: PromptResourcesOptions) {
    this.#options = options;
  }

  async skills(): Promise<readonly Skill[]> {
    this.#skills ??= this.#read((reader) => reader.skills(this.#added));
    return (await this.#skills).skills;
  }

  async templates(): Promise<readonly PromptTemplate[]> {
    this.#templates ??= this.#read((reader) => reader.templates(this.#added));
    return (await this.#templates).templates;
  }

  async contextFiles(): Promise<ContextFiles["files"]> {
    this.#contextFiles ??= this.#read((reader) => reader.contextFiles());
    return (await this.#contextFiles).files;
  }

  /** The rules that watch replies, with what was wrong with others. */
  rules(): Promise<LoadedRules> {
    this.#rules ??= this.#read((reader) => reader.rules());
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

  addPaths(paths: AddedPlaces): void {
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

  /** Replaces a leading `/skill:name` or `/template` by its text. */
  expand(text: string): Promise<string> {
    return this.#read((reader) =>
      reader.expand(text, {
        skills: () => this.skills(),
        templates: () => this.templates(),
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
    this.#custom ??= this.#read((reader) => reader.customPrompts());
    const [skills, contextFiles, { custom, appended }] = await Promise.all([
      this.skills(),
      this.contextFiles(),
      this.#custom,
    ]);
    const { workingFolder, additionalDirectories = [] } = this.#options;
    const { cwd } = workingFolder ?? this.#options;
    const texts = { customPrompt: custom, appendPrompts: appended, contextFiles, skills };
    return { tools, cwd, additionalDirectories, ...texts };
  }

  async #read<Value>(work: (reader: ResourceReader) => Value | Promise<Value>): Promise<Value> {
    this.#reader ??= import("./read-resources.ts").then(
      ({ ResourceReader }) => new ResourceReader(this.#options),
    );
    return work(await this.#reader);
  }
}
