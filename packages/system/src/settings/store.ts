import nodePath, { type PlatformPath } from "node:path";
import { isJsonObject, type JsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { Diagnostic } from "../base/diagnostic.ts";
import { type JsonFile, readJsonFile, readJsonIn } from "../base/files/read-json.ts";
import {
  mergedValue,
  readLayer,
  type SettingsLayer,
  settingProblem,
  unknownSetting,
} from "./layer.ts";
import type { SettingsChange } from "./save.ts";
import {
  isSettingKey,
  type ResourceKey,
  type SettingKey,
  type SettingValue,
  type SettingValues,
} from "./schema.ts";
import type { PackageSource } from "./setting.ts";
import { UnreadGuard } from "./unread-guard.ts";

/** Whose file it is: the user's or the project's. */
export type SettingsScope = "user" | "project";

/** One entry of a resource list, with the folder that its relative path starts from. */
export interface ResourceEntry<Entry = string> {
  readonly entry: Entry;
  readonly scope: SettingsScope;
  readonly baseDirectory: string;
}

/** Where the project is, if it is on another machine. */
interface SettingsWorkspace {
  readonly files: Pick<Workspace, "stat" | "read" | "write">;
  /** The path functions of its platform. */
  readonly path: PlatformPath;
}

export interface SettingsOptions {
  /** The user's folder, `~/.pi/agent` by default. */
  readonly agentDirectory: string;
  readonly cwd: string;
  /** The workspace that `cwd` is in; by default this machine. */
  readonly workspace?: SettingsWorkspace | undefined;
  /** Whether the project's settings apply immediately; default false, see {@link SettingsStore.trustProject}. */
  readonly isProjectTrusted?: boolean;
}

/** Runs a write to the project's files, and keeps the project trusted if it was trusted before. */
export type ProjectWrite = (write: () => Promise<void>) => Promise<void>;

interface FileLayer {
  readonly scope: SettingsScope;
  readonly baseDirectory: string;
  readonly layer: SettingsLayer;
  readonly diagnostics: readonly Diagnostic[];
  readonly path: string;
  /** The unparsed permissions and sandbox members of the file; undefined if absent. */
  readonly guards: Readonly<Record<Guard, unknown>>;
}

/** Larger than anything that people write; a project's file is read before it is trusted. */
const MAX_BYTES = 1024 * 1024;

/** Settings that limit what tools may do; a project's also apply before it is trusted. */
const guards = ["permissions", "sandbox"] as const;
type Guard = (typeof guards)[number];

/** The permissions or sandbox member of one file, for the code that interprets it. */
export interface GuardEntry {
  readonly path: string;
  readonly scope: SettingsScope;
  readonly value: unknown;
}

/** Most files are missing and contribute nothing. */
const nothing: Pick<FileLayer, "layer" | "guards" | "diagnostics"> = {
  layer: new Map(),
  guards: guardsOf(() => undefined),
  diagnostics: [],
};

function layerOf(file: JsonFile, scope: SettingsScope, baseDirectory: string): FileLayer {
  const { path } = file;
  const place = { scope, path, baseDirectory };
  if (file.kind === "missing") return { ...place, ...nothing };
  if (file.kind === "unreadable") {
    // Its limits are unknown, so the strictest ones apply.
    const found = guardsOf((name) => {
      if (file.text !== undefined) return file.text.includes(`"${name}`) ? "unreadable" : undefined;
      const { reason = "" } = file.diagnostic;
      return name === "permissions" ? new UnreadGuard(reason) : "unreadable";
    });
    return { ...place, ...nothing, guards: found, diagnostics: [file.diagnostic] };
  }
  const diagnostics: Diagnostic[] = [];
  const source = { path, isProject: scope === "project" };
  const layer = readLayer(file.value, source, diagnostics);
  return { ...place, layer, diagnostics, guards: guardsOf((name) => guardOf(name, file.value)) };
}

function pathsOf(workspace: SettingsWorkspace | undefined): PlatformPath {
  return workspace?.path ?? nodePath;
}

function guardsOf(read: (name: Guard) => unknown): FileLayer["guards"] {
  return Object.fromEntries(guards.map((name) => [name, read(name)])) as FileLayer["guards"];
}

/** The members may be in a nested object or have dotted names. */
function guardOf(name: Guard, file: JsonObject): unknown {
  const whole = file[name];
  const prefix = `${name}.`;
  const dotted = Object.entries(file)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value] as const);
  if (dotted.length === 0) return whole;
  return { ...(isJsonObject(whole) ? whole : {}), ...Object.fromEntries(dotted) };
}

/**
 * Settings in layers, strongest first: overrides of this session, the trusted project's files, the
 * user's files, the defaults. `settings.json` is stronger than the `omp.jsonc` next to it.
 */
export class SettingsStore {
  readonly #options: SettingsOptions;
  readonly #overrides = new Map<SettingKey, unknown>();
  /** Problems in settings that come from no file. */
  readonly #given: Diagnostic[] = [];
  #files: readonly FileLayer[] = [];
  /**
   * Layers of the active files and of this session, weakest first. Cached, because a prompt reads 80
   * settings (row "CPU per short prompt").
   */
  #layers: readonly SettingsLayer[] = [this.#overrides];
  #permissions: readonly GuardEntry[] = [];
  #sandbox: readonly GuardEntry[] = [];
  #isProjectTrusted: boolean;
  #writeProject: ProjectWrite = (write) => write();

  private constructor(options: SettingsOptions) {
    this.#options = options;
    this.#isProjectTrusted = options.isProjectTrusted ?? false;
  }

  /** Reads the existing settings files. Never rejects: problems become {@link diagnostics}. */
  static async load(options: SettingsOptions): Promise<SettingsStore> {
    const store = new SettingsStore(options);
    await store.reload();
    return store;
  }

  /**
   * Settings without files, for embedders and tests; values may be nested as in a file.
   * @throws {SessionError} `invalid_settings` for a value that does not fit its key
   */
  static inMemory(values: SettingValues = {}): SettingsStore {
    const store = new SettingsStore({ agentDirectory: "", cwd: "" });
    const source = { path: "the settings of this session", isProject: false };
    const entries = (name: Guard): readonly GuardEntry[] => {
      const value = guardOf(name, values as JsonObject);
      return value === undefined ? [] : [{ path: source.path, scope: "user", value }];
    };
    store.#permissions = entries("permissions");
    store.#sandbox = entries("sandbox");
    for (const [key, value] of Object.entries(values)) {
      if (isSettingKey(key)) {
        store.#override(key, value);
        continue;
      }
      const nested = readLayer({ [key]: value }, source, store.#given);
      for (const [name, each] of nested) store.#overrides.set(name, each);
    }
    return store;
  }

  /**
   * Reads the files again; overrides of the session stay.
   *
   * @throws {WorkspaceError} when the project's workspace cannot be reached
   */
  async reload(): Promise<void> {
    const reads = (["user", "project"] as const).flatMap((scope) =>
      ["omp.jsonc", "settings.json"].map(async (name) => {
        const path = this.#pathOf(scope, name);
        return layerOf(await this.#read(scope, path), scope, this.#folderOf(scope));
      }),
    );
    this.#files = await Promise.all(reads);
    this.#stackLayers();
    this.#permissions = this.#guardEntries("permissions");
    this.#sandbox = this.#guardEntries("sandbox");
  }

  /**
   * The permissions in each file, the weakest first. Includes the project's, which may tighten them
   * before it is trusted.
   */
  get permissionFiles(): readonly GuardEntry[] {
    return this.#permissions;
  }

  /** The sandbox settings in each file, the weakest first. Includes the project's, which may tighten them. */
  get sandboxFiles(): readonly GuardEntry[] {
    return this.#sandbox;
  }

  /** The folder of the user's files; empty for settings without files. */
  get agentDirectory(): string {
    return this.#options.agentDirectory;
  }

  /** Makes the project's settings apply from now on; `writeProject` runs writes to them. */
  trustProject(writeProject?: ProjectWrite): void {
    this.#isProjectTrusted = true;
    this.#stackLayers();
    if (writeProject !== undefined) this.#writeProject = writeProject;
  }

  get isProjectTrusted(): boolean {
    return this.#isProjectTrusted;
  }

  /** Problems in the given settings, and in the files that apply. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.#given, ...this.#activeFiles().flatMap((file) => file.diagnostics)];
  }

  /** The value of a setting, or its default. */
  get<K extends SettingKey>(key: K): SettingValue<K> {
    // Checked when the layer was built; the map does not relate keys to types.
    return mergedValue(key, this.#layers) as SettingValue<K>;
  }

  /** Whether `key` is set anywhere. */
  has(key: SettingKey): boolean {
    return this.#layers.some((layer) => layer.has(key));
  }

  /** The user's own value, without project and session: for decisions about trust. */
  getUserValue<K extends SettingKey>(key: K): SettingValue<K> {
    const layers = this.#files.filter((file) => file.scope === "user").map((file) => file.layer);
    return mergedValue(key, layers) as SettingValue<K>;
  }

  /** Entries of a resource list with their origins, the project's first. */
  resources(key: ResourceKey): readonly ResourceEntry[] {
    return this.#listed<string>(key);
  }

  /** The packages in settings, the project's first. */
  get packages(): readonly ResourceEntry<PackageSource>[] {
    return this.#listed<PackageSource>("packages");
  }

  #guardEntries(name: Guard): readonly GuardEntry[] {
    return this.#files
      .filter(({ guards }) => guards[name] !== undefined)
      .map(({ path, scope, guards }) => ({ path, scope, value: guards[name] }));
  }

  /**
   * Code, and packages that may contain code, that a project in another workspace names: since such
   * code would run on this machine, it is ignored.
   */
  get foreignCode(): readonly ResourceEntry<PackageSource>[] {
    if (this.#options.workspace === undefined) return [];
    return (["extensions", "packages"] as const).flatMap((key) =>
      this.#everyListed<PackageSource>(key).filter(({ scope }) => scope === "project"),
    );
  }

  #listed<Entry>(key: ResourceKey | "packages"): readonly ResourceEntry<Entry>[] {
    const isCode = key === "extensions" || key === "packages";
    const entries = this.#everyListed<Entry>(key);
    if (!isCode || this.#options.workspace === undefined) return entries;
    return entries.filter(({ scope }) => scope === "user");
  }

  #everyListed<Entry>(key: ResourceKey | "packages"): readonly ResourceEntry<Entry>[] {
    const entries = this.#activeFiles().flatMap(({ layer, scope, baseDirectory }) =>
      ((layer.get(key) ?? []) as readonly Entry[]).map((entry) => ({
        entry,
        scope,
        baseDirectory,
      })),
    );
    return [
      ...entries.filter(({ scope }) => scope === "project"),
      ...entries.filter(({ scope }) => scope === "user"),
    ];
  }

  /**
   * Overrides a value for this session only; `undefined` removes the override. No file changes.
   *
   * @throws {SessionError} `invalid_settings` when the value does not fit.
   */
  override<K extends SettingKey>(key: K, value: SettingValue<K> | undefined): void {
    this.#override(key, value);
  }

  /**
   * Writes values to a settings file and leaves everything else in it unchanged, including comments;
   * `undefined` removes a key.
   * @throws {SessionError} `invalid_settings` for an unknown key, when a value does not fit, or when
   *   the file does not parse.
   */
  async save(scope: SettingsScope, values: SettingValues): Promise<void> {
    const changes: SettingsChange[] = [];
    for (const [key, value] of Object.entries(values)) {
      if (!isSettingKey(key)) {
        const reason = unknownSetting(key);
        throw new SessionError("invalid_settings", { path: this.#pathOf(scope), reason });
      }
      if (value !== undefined) this.#check(scope, key, value);
      changes.push({ key, value });
    }
    await this.#write(scope, changes);
  }

  /**
   * Appends one entry to a list in a settings file and leaves everything else in it unchanged,
   * including comments. A missing list is created.
   * @throws {SessionError} `invalid_settings` when the entry does not fit, or the file does not parse
   * or has another value in place of the list.
   */
  async append(scope: SettingsScope, key: SettingKey, entry: unknown): Promise<void> {
    this.#check(scope, key, [entry]);
    await this.#write(scope, [{ key, appended: entry }]);
  }

  #folderOf(scope: SettingsScope): string {
    const { agentDirectory, cwd, workspace } = this.#options;
    return scope === "user" ? nodePath.join(agentDirectory) : pathsOf(workspace).join(cwd, ".pi");
  }

  #pathOf(scope: SettingsScope, name = "settings.json"): string {
    const { join } = scope === "user" ? nodePath : pathsOf(this.#options.workspace);
    return join(this.#folderOf(scope), name);
  }

  #read(scope: SettingsScope, path: string): Promise<JsonFile> {
    const { workspace } = this.#options;
    const isHere = scope === "user" || workspace === undefined;
    return isHere ? readJsonFile(path, MAX_BYTES) : readJsonIn(workspace.files, path, MAX_BYTES);
  }

  #check(scope: SettingsScope, key: SettingKey, value: unknown): void {
    const reason = settingProblem(key, value);
    if (reason === undefined) return;
    throw new SessionError("invalid_settings", { path: this.#pathOf(scope), reason });
  }

  async #write(scope: SettingsScope, changes: readonly SettingsChange[]): Promise<void> {
    const { saveSettings, saveSettingsIn } = await import("./save.ts");
    const path = this.#pathOf(scope);
    const { workspace } = this.#options;
    if (scope === "user") await saveSettings(path, changes);
    else if (workspace === undefined) await this.#writeProject(() => saveSettings(path, changes));
    else await this.#writeProject(() => saveSettingsIn(workspace.files, path, changes));
    await this.reload();
  }

  #override(key: SettingKey, value: unknown): void {
    if (value === undefined) {
      this.#overrides.delete(key);
      return;
    }
    const problem = settingProblem(key, value);
    if (problem !== undefined) {
      throw new SessionError("invalid_settings", { path: "this session", reason: problem });
    }
    this.#overrides.set(key, value);
  }

  #stackLayers(): void {
    this.#layers = [...this.#activeFiles().map(({ layer }) => layer), this.#overrides];
  }

  #activeFiles(): readonly FileLayer[] {
    return this.#files.filter((file) => file.scope === "user" || this.#isProjectTrusted);
  }
}
