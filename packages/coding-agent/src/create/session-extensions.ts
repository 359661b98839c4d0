import type { StreamFunction } from "@tau-agent/ai";
import type { ModelRegistry } from "@tau-agent/models";
import type { ExtensionUiRequest } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type {
  Diagnostic,
  HostRequests,
  ProcessRegistry,
  Sandbox,
  SettingsStore,
} from "@tau-agent/system";
import type { ExtensionFactory } from "../extensions/api/api.ts";
import { discoverExtensions, type PackageFinder } from "../extensions/load/discover.ts";
import type { HostModules } from "../extensions/load/host-imports.ts";
import type { InlineFactory } from "../extensions/load/load.ts";
import type { OpenExtensions } from "../extensions/open-extensions.ts";

/** A switch takes no value. */
type FlagType = "boolean" | "string";

/** Which extensions to load. */
export interface ExtensionOptions {
  /** Files or folders, relative to the options' `cwd`; always loaded. */
  readonly paths?: readonly string[] | undefined;
  /** Loads only what `paths` names. */
  readonly onlyNamed?: boolean | undefined;
  /** Modules that imports of pi's packages resolve to; requested with the first extension. */
  readonly hostModules: () => Promise<HostModules>;
  /** Extensions given as functions; they come after those from files. */
  readonly factories?: readonly (InlineFactory | ExtensionFactory)[] | undefined;
  /** Values for flags that extensions define, by name without dashes. */
  readonly flagValues?: ReadonlyMap<string, string | true> | undefined;
  /**
   * Called once the extensions of the start are loaded, with the flags they declare by name. What it
   * throws ends the start.
   */
  readonly onFlags?: ((flags: ReadonlyMap<string, FlagType>) => void) | undefined;
  /** The mode that extensions see; default `rpc`. */
  readonly mode?: "rpc" | "json" | "print" | undefined;
  /** Sends dialogs and notices to a client; without it there is no user interface. */
  readonly sendUiRequest?: ((request: ExtensionUiRequest) => void) | undefined;
  /** Shows notices of extensions where there is no client. */
  readonly showNotice?: ((message: string, type: "info" | "warning" | "error") => void) | undefined;
  /** Ends the host if an extension asks for it; without it the request is ignored. */
  readonly onShutdown?: (() => void) | undefined;
}

/** What {@link SessionExtensions} works with. */
export interface SessionExtensionsContext {
  readonly options: ExtensionOptions;
  readonly places: {
    readonly cwd: string;
    /** Base of relative paths in options. */
    readonly baseDirectory: string;
    readonly agentDirectory: string;
    readonly homeDirectory: string;
    readonly temporaryDirectory: string;
  };
  /** The folder of the current session. */
  readonly workingFolder: { readonly cwd: string };
  readonly settings: SettingsStore;
  readonly registry: ModelRegistry;
  readonly stream: StreamFunction;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessRegistry;
  readonly sandbox?: Sandbox | undefined;
  readonly requests: HostRequests;
}

/**
 * Finds out whether there are extensions at all, at the cost of one directory read. The system that
 * runs them is loaded when the first one is found.
 */
export class SessionExtensions {
  readonly #context: SessionExtensionsContext;
  readonly #diagnostics: Diagnostic[] = [];
  #untrusted: readonly Diagnostic[] = [];
  #opened: OpenExtensions | undefined;

  constructor(context: SessionExtensionsContext) {
    this.#context = context;
  }

  /** The extensions; undefined without any. */
  get opened(): OpenExtensions | undefined {
    return this.#opened;
  }

  /** Problems with extensions, and unknown flags. */
  get diagnostics(): readonly Diagnostic[] {
    if (this.#opened !== undefined) return this.#opened.diagnostics;
    const flags = [...(this.#context.options.flagValues?.keys() ?? [])].map((name) => ({
      severity: "warning" as const,
      message: `--${name} is not a flag of this version; it is ignored`,
    }));
    const untrusted = this.#context.settings.isProjectTrusted ? [] : this.#untrusted;
    return [...this.#diagnostics, ...untrusted, ...flags];
  }

  /**
   * Loads the user's own extensions.
   *
   * @throws {SessionError} `extension_unusable` when one that `-e`, the settings or the options name
   *   cannot be loaded: a guard that is left out silently is worse than none
   */
  async loadOwn(): Promise<void> {
    await this.#load("own");
    this.#stopAt(this.diagnostics.find(({ isFatal }) => isFatal === true));
  }

  /**
   * Loads those of the project, if it is trusted; called once that is decided.
   *
   * @throws {SessionError} `extension_unusable` as {@link loadOwn}, also for a package that `-e` names
   *   and that only the project has, if it is not trusted
   */
  async loadProject(): Promise<void> {
    if (this.#context.settings.isProjectTrusted) await this.#load("project");
    this.#stopAt(this.diagnostics.find(({ isFatal }) => isFatal !== undefined));
    this.#context.options.onFlags?.(this.#opened?.system.runner.flagTypes ?? new Map());
  }

  #stopAt(fatal: Diagnostic | undefined): void {
    if (fatal === undefined) return;
    const [reason = "", ...more] = fatal.message.split("\n").filter((line) => line.trim() !== "");
    const text = [reason, ...more.slice(0, 2)].join("\n");
    throw new SessionError("extension_unusable", { reason: text }, { cause: fatal });
  }

  async #load(part: "own" | "project"): Promise<void> {
    const { options, settings } = this.#context;
    if (this.#opened === undefined) {
      const entries = settings.resources("extensions");
      const found = await discoverExtensions({ ...this.#discovery(), part, entries });
      const { files, diagnostics, untrusted } = found;
      if (files.length === 0 && (options.factories ?? []).length === 0) {
        this.#context.sandbox?.keepForHost(found.places);
        this.#diagnostics.push(...diagnostics);
        if (part === "own") this.#untrusted = untrusted;
        return;
      }
      this.#opened = await this.#open();
    }
    await this.#opened.system.load(part);
  }

  /** The decision of the user's extensions about trusting the project. */
  async askTrust() {
    return this.#opened?.system.askTrust();
  }

  /** Where extensions are looked for. */
  #discovery() {
    const { options, places, sandbox } = this.#context;
    const { paths = [], onlyNamed = false } = options;
    const changeable = sandbox === undefined ? undefined : places.cwd;
    return { ...places, paths, onlyNamed, packages: this.#packages(), changeable };
  }

  /** Loaded once there is something to find. */
  #packages(): PackageFinder {
    const { places, settings } = this.#context;
    const { cwd, agentDirectory, homeDirectory } = places;
    const finder = () => import("../resources/packages/find-packages.ts");
    return {
      all: async () => {
        if (settings.packages.length === 0) return [];
        const { findPackages } = await finder();
        return (await findPackages(settings, { cwd, agentDirectory, homeDirectory })).packages;
      },
      named: async (source, isProjectTrusted) =>
        (await finder()).findNamedPackage(
          source,
          { cwd, agentDirectory, homeDirectory },
          isProjectTrusted,
        ),
    };
  }

  async #open(): Promise<OpenExtensions> {
    const { options, places, workingFolder, settings, registry, stream, environment } =
      this.#context;
    const { processes, requests, sandbox } = this.#context;
    const [{ OpenExtensions }, hostModules] = await Promise.all([
      import("../extensions/open-extensions.ts"),
      options.hostModules(),
    ]);
    return new OpenExtensions({
      ...this.#discovery(),
      temporaryDirectory: places.temporaryDirectory,
      entries: () => settings.resources("extensions"),
      hostModules,
      factories: options.factories ?? [],
      flagValues: options.flagValues ?? new Map(),
      mode: options.mode ?? "rpc",
      sendUiRequest: options.sendUiRequest,
      showNotice: options.showNotice,
      requests,
      onShutdown: options.onShutdown,
      registry,
      stream,
      execEnvironment: {
        get cwd() {
          return workingFolder.cwd;
        },
        environment,
        processes,
        sandbox,
      },
    });
  }
}
