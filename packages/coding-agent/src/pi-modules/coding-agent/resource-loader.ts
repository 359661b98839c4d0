import { SettingsStore } from "@tau-agent/system";
import type { ExtensionFactory } from "../../extensions/api/api.ts";
import type { InlineFactory } from "../../extensions/load/load.ts";
import { PromptResources } from "../../resources/resources.ts";
import type { Skill } from "../../resources/skills/skills.ts";
import type { PromptTemplate } from "../../resources/templates/templates.ts";
import type { HostPlaces } from "../base/host-places.ts";

/** What extensions need from a loader, including their own implementations. */
export interface PiResourceLoader {
  reload?(): Promise<void>;
  getSkills?(): { readonly skills: readonly Pick<Skill, "name" | "filePath">[] };
  getPrompts?(): { readonly prompts: readonly Pick<PromptTemplate, "name" | "filePath">[] };
  getAgentsFiles?(): { readonly agentsFiles: readonly AgentsFile[] };
  getSystemPrompt?(): string | undefined;
  getAppendSystemPrompt?(): readonly string[];
  /** The extensions for sessions with this loader; only this host's own loader has it. */
  readonly extensionOptions?: LoaderExtensions | undefined;
}

interface LoaderExtensions {
  readonly paths: readonly string[];
  readonly onlyNamed: boolean;
  readonly factories: readonly InlineFactory[];
}

/** A project or user text that every session begins with. */
export interface AgentsFile {
  readonly path: string;
  readonly content: string;
}

interface LoaderOptions {
  readonly cwd?: string;
  readonly agentDir?: string;
  readonly additionalExtensionPaths?: readonly string[];
  readonly extensionFactories?: readonly (ExtensionFactory | InlineFactory)[];
  readonly noExtensions?: boolean;
  readonly additionalSkillPaths?: readonly string[];
  readonly additionalPromptTemplatePaths?: readonly string[];
  readonly noSkills?: boolean;
  readonly noPromptTemplates?: boolean;
  readonly noContextFiles?: boolean;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string | readonly string[];
  readonly [override: string]: unknown;
}

const none = { diagnostics: [] } as const;

/** The state of extensions, for a loader that has loaded none. */
export function createRuntime(): object {
  return { flagValues: new Map(), pendingProviderRegistrations: [] };
}

/**
 * pi's loader. After a reload, it has a directory's skills, templates and context files. Extensions
 * are loaded with the session that is created from it.
 */
class ResourceLoader implements PiResourceLoader {
  readonly #places: HostPlaces;
  readonly #options: LoaderOptions;
  #skills: readonly Skill[] = [];
  #prompts: readonly PromptTemplate[] = [];
  #agentsFiles: readonly AgentsFile[] = [];
  #systemPrompt: string | undefined;
  #appended: readonly string[];

  constructor(places: HostPlaces, options: LoaderOptions = {}) {
    this.#places = places;
    this.#options = options;
    this.#systemPrompt = options.systemPrompt;
    this.#appended = [options.appendSystemPrompt ?? []].flat();
  }

  async reload(): Promise<void> {
    const { noPromptTemplates: noTemplates = false, ...options } = this.#options;
    const cwd = options.cwd ?? this.#places.cwd;
    const agentDir = options.agentDir ?? this.#places.agentDirectory;
    const settings = await SettingsStore.load({ agentDirectory: agentDir, cwd });
    const resources = new PromptResources({
      settings,
      agentDirectory: agentDir,
      cwd,
      homeDirectory: this.#places.homeDirectory,
      skillPaths: options.additionalSkillPaths ?? [],
      templatePaths: options.additionalPromptTemplatePaths ?? [],
      noSkills: options.noSkills ?? false,
      noContextFiles: options.noContextFiles ?? false,
      noTemplates,
      systemPrompt: options.systemPrompt,
      appendSystemPrompts: [options.appendSystemPrompt ?? []].flat(),
    });
    const input = await resources.promptInput([]);
    this.#skills = input.skills ?? [];
    this.#prompts = await resources.templates();
    this.#agentsFiles = input.contextFiles ?? [];
    this.#systemPrompt = input.customPrompt;
    this.#appended = input.appendPrompts ?? [];
  }

  extendResources(): void {}
  get extensionOptions(): LoaderExtensions {
    const { additionalExtensionPaths, extensionFactories = [], noExtensions } = this.#options;
    return {
      paths: additionalExtensionPaths ?? [],
      onlyNamed: noExtensions === true,
      factories: extensionFactories.map((given, index) =>
        typeof given === "function" ? { name: String(index + 1), factory: given } : given,
      ),
    };
  }

  getExtensions = () =>
    this.#overridden("extensions", { extensions: [], errors: [], runtime: createRuntime() });
  getSkills = () => this.#overridden("skills", { skills: this.#skills, ...none });
  getPrompts = () => this.#overridden("prompts", { prompts: this.#prompts, ...none });
  getThemes = () => ({ themes: [], ...none });
  getAgentsFiles = () => this.#overridden("agentsFiles", { agentsFiles: this.#agentsFiles });
  getSystemPrompt = () => this.#overridden("systemPrompt", this.#systemPrompt);
  getSystemPromptSource = () => undefined;
  getAppendSystemPrompt = () => this.#overridden("appendSystemPrompt", this.#appended);
  getAppendSystemPromptSources = () => [];

  #overridden<Value>(name: string, base: Value): Value {
    const override = this.#options[`${name}Override`];
    return typeof override === "function" ? override(base) : base;
  }
}

export function resourceLoaderClass(
  places: HostPlaces,
): new (
  options?: LoaderOptions,
) => PiResourceLoader {
  return class DefaultResourceLoader extends ResourceLoader {
    constructor(options?: LoaderOptions) {
      super(places, options);
    }
  };
}
