import { win32 } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, openOutput } from "@tau-agent/system";
import { discoverExtensions, type PackageFinder } from "../../extensions/load/discover.ts";
import type { OpenExtensions } from "../../extensions/open-extensions.ts";
import { policyDenied } from "../../policy/policy-denied.ts";
import type { ExtensionOptions } from "../options/extension-options.ts";
import { outputPlaceOf } from "./output-place.ts";
import type { SessionBase } from "./session-base.ts";

/**
 * Finds out whether there are extensions at all, at the cost of one directory read. The extension
 * system is loaded when the first one is found.
 */
export class SessionExtensions {
  readonly #base: SessionBase;
  readonly #options: ExtensionOptions;
  readonly #diagnostics: Diagnostic[] = [];
  #untrusted: readonly Diagnostic[] = [];
  #opened: OpenExtensions | undefined;

  /** @throws {SessionError} `policy_denied` for functions from the embedder */
  constructor(base: SessionBase, options: ExtensionOptions) {
    this.#base = base;
    const functions = options.factories ?? [];
    if (functions.length > 0 && base.policy?.allowsExtension("") === false) {
      throw policyDenied("extensions", "functions are none of its extensions");
    }
    this.#options = options;
  }

  get opened(): OpenExtensions | undefined {
    return this.#opened;
  }

  /** Problems with extensions, and unknown flags. */
  get diagnostics(): readonly Diagnostic[] {
    if (this.#opened !== undefined) return this.#opened.diagnostics;
    const flags = [...(this.#options.flagValues?.keys() ?? [])].map((name) => ({
      severity: "warning" as const,
      message: `--${name} is not a flag of this version; it is ignored`,
    }));
    const untrusted = this.#base.settings.isProjectTrusted ? [] : this.#untrusted;
    return [...this.#diagnostics, ...untrusted, ...flags];
  }

  /**
   * Loads the user's own extensions.
   *
   * @throws {SessionError} `extension_unusable` if an extension named by `-e`, the settings or the options cannot be
   *   loaded: leaving out a guard silently would be worse than having none
   */
  async loadOwn(): Promise<void> {
    await this.#load("own");
    this.#stopAt(this.diagnostics.find(({ isFatal }) => isFatal === true));
  }

  /**
   * Loads the project's extensions, if it is trusted and on this machine; called once that is decided.
   *
   * @throws {SessionError} `extension_unusable` as {@link loadOwn}, and for a package named by `-e` that only an
   *   untrusted project has
   */
  async loadProject(): Promise<void> {
    const { settings, disk } = this.#base;
    if (settings.isProjectTrusted && disk === undefined) await this.#load("project");
    this.#stopAt(this.diagnostics.find(({ isFatal }) => isFatal !== undefined));
    this.#options.onFlags?.(this.#opened?.system.runner.flagTypes ?? new Map());
  }

  #stopAt(fatal: Diagnostic | undefined): void {
    if (fatal === undefined) return;
    const { code, member = "" } = fatal;
    if (code === "policy_denied") throw policyDenied(member, fatal.message);
    const [reason = "", ...more] = fatal.message.split("\n").filter((line) => line.trim() !== "");
    const text = [reason, ...more.slice(0, 2)].join("\n");
    throw new SessionError("extension_unusable", { reason: text }, { cause: fatal });
  }

  async #load(part: "own" | "project"): Promise<void> {
    const { settings, sandboxed } = this.#base;
    if (this.#opened === undefined) {
      const entries = settings.resources("extensions");
      const found = await discoverExtensions({ ...this.#discovery(), part, entries });
      const { files, diagnostics, untrusted } = found;
      if (files.length === 0 && (this.#options.factories ?? []).length === 0) {
        sandboxed.sandbox?.keepForHost(found.places);
        this.#diagnostics.push(...diagnostics);
        if (part === "own") this.#untrusted = untrusted;
        return;
      }
      this.#opened = await this.#open();
    }
    await this.#opened.system.load(part);
  }

  /** Asks the user's extensions whether to trust the project. */
  async askTrust() {
    return this.#opened?.system.askTrust();
  }

  #discovery() {
    const { places, sandboxed, disk, policy } = this.#base;
    const { paths = [], onlyNamed = false } = this.#options;
    const isHere = sandboxed.sandbox !== undefined && disk === undefined;
    const changeable = isHere ? places.cwd : undefined;
    return { ...places, paths, onlyNamed, packages: this.#packages(), changeable, policy };
  }

  /** Loaded when the first package is looked for. */
  #packages(): PackageFinder {
    const { places, settings, disk } = this.#base;
    const { cwd, agentDirectory, homeDirectory } = places;
    const dirs = { cwd, agentDirectory, homeDirectory, isProjectElsewhere: disk !== undefined };
    const finder = () => import("../../resources/packages/find-packages.ts");
    return {
      all: async () => {
        if (settings.packages.length === 0) return [];
        const { findPackages } = await finder();
        return (await findPackages(settings, dirs)).packages;
      },
      named: async (source, isProjectTrusted) =>
        (await finder()).findNamedPackage(source, dirs, isProjectTrusted),
    };
  }

  async #open(): Promise<OpenExtensions> {
    const options = this.#options;
    const { workingFolder, settings, registry, environment, processes } = this.#base;
    const { disk, sandboxed } = this.#base;
    const workspace = sandboxed.workspace ?? this.#base.workspace;
    const { sharing, stream = sharing.createStream() } = this.#base.options;
    const [{ OpenExtensions }, hostModules] = await Promise.all([
      import("../../extensions/open-extensions.ts"),
      options.hostModules(),
    ]);
    return new OpenExtensions({
      ...this.#discovery(),
      openOutput: () => openOutput(outputPlaceOf(this.#base)),
      entries: () => settings.resources("extensions"),
      hostModules,
      factories: options.factories ?? [],
      flagValues: options.flagValues ?? new Map(),
      mode: options.mode ?? "rpc",
      sendUiRequest: options.sendUiRequest,
      showNotice: options.showNotice,
      requests: this.#base.requests,
      onShutdown: options.onShutdown,
      registry,
      stream,
      execEnvironment: {
        get cwd() {
          return workingFolder.cwd;
        },
        environment,
        processes,
        sandbox: sandboxed.sandbox,
        elsewhere: workspace && { workspace, isWindows: disk?.path === win32 },
      },
    });
  }
}
