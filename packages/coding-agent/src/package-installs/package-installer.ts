import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  FolderDoor,
  readJsonFile,
  type SettingsScope,
  type SettingsStore,
  withFileLock,
} from "@tau-agent/system";
import { type PackageOrigin, parsePackageSource } from "../resources/packages/package-source.ts";
import { cloneRepository, dropFolder, headOf } from "./git-package.ts";
import { dropFromNpm, installFromNpm, readNpmSpec } from "./npm-package.ts";
import type { RunProgram } from "./run-program.ts";

/** Where packages are installed, and for whom. */
export interface InstallPlace {
  readonly agentDirectory: string;
  readonly homeDirectory: string;
  readonly cwd: string;
  readonly scope: SettingsScope;
}

/** A package in the settings. */
export interface ListedPackage {
  readonly source: string;
  /** Where it is installed; may not exist yet. */
  readonly path: string;
  readonly isInstalled: boolean;
  /** The installed version or commit. */
  readonly pin?: string | undefined;
}

/** The path of a repository below the package folder: a host, and names that are neither `..` nor options. */
const repositoryPath = /^[a-z0-9][\w.-]*(?:\/(?!-|\.{1,2}(?:\/|$))[^/:]+)+$/i;

/** Files that npm writes next to packages. */
const manifests = ["npm/package.json", "npm/package-lock.json", "npm/node_modules"];

/** How often to try the lock, because another process may be installing. */
const LOCK_TRIES = 40;

/**
 * Installs packages and lists them in the settings. Installed packages stay unchanged until they
 * are updated; their scripts do not run.
 */
export class PackageInstaller {
  readonly #settings: SettingsStore;
  readonly #place: InstallPlace;
  readonly #run: RunProgram;

  /** @param settings - must include the project's settings if the place is the project's */
  constructor(settings: SettingsStore, place: InstallPlace, run: RunProgram) {
    this.#settings = settings;
    this.#place = place;
    this.#run = run;
  }

  /**
   * Installs a package, and lists it in the settings once it is there.
   *
   * @throws {SessionError} `invalid_option` for a source that cannot be installed; `package_failed`
   */
  async install(given: string): Promise<ListedPackage> {
    const source = this.#checked(given);
    return this.#locked(async () => {
      await this.#fetch(source, "as named");
      await this.#settings.reload();
      const listed = this.#entries().find(
        ({ identity }) => identity === this.#origin(source).identity,
      );
      if (listed === undefined) await this.#append(source);
      else if (listed.source !== source) await this.#replace(listed.source, source);
      return this.#describe(source);
    });
  }

  /**
   * Removes a package from the settings, and its files.
   *
   * @throws {SessionError} `package_not_found`
   */
  async remove(given: string): Promise<ListedPackage> {
    return this.#locked(async () => {
      const listed = this.#listed(given);
      const found = await this.#describe(listed.source);
      await this.#replace(listed.source, undefined);
      const { path } = listed;
      if (listed.source.startsWith("npm:")) {
        await dropFromNpm(listed.source, { root: this.#root, run: this.#run });
      } else if (isInstalled(listed)) await dropFolder(path);
      return found;
    });
  }

  /**
   * Updates a package, or all packages, to the newest version; those whose source names a version stay.
   *
   * @returns the requested packages in their new state
   */
  async update(given?: string): Promise<ListedPackage[]> {
    return this.#locked(async () => {
      const asked = given === undefined ? this.#entries() : [this.#listed(given)];
      for (const entry of asked) {
        if (isInstalled(entry) && !entry.isPinned) await this.#fetch(entry.source, "newest");
      }
      return Promise.all(asked.map(({ source }) => this.#describe(source)));
    });
  }

  /** The packages of the settings. */
  list(): Promise<ListedPackage[]> {
    return Promise.all(this.#entries().map(({ source }) => this.#describe(source)));
  }

  /** The folder under which packages of this place are installed. */
  get #root(): string {
    const { scope, agentDirectory, cwd } = this.#place;
    return scope === "user" ? agentDirectory : join(cwd, ".pi");
  }

  #origin(source: string): PackageOrigin {
    const { homeDirectory } = this.#place;
    const folders = { root: this.#root, baseDirectory: this.#root, homeDirectory };
    const origin = parsePackageSource(source, folders);
    // A project's settings may contain anything; only files inside our folder may be removed.
    const isInside = repositoryPath.test(relative(join(this.#root, "git"), origin.path));
    if (origin.url !== undefined && !isInside) {
      const reason = "expected git:<host>/<owner>/<repository>[@<branch, tag or commit>]";
      throw new SessionError("invalid_option", { option: source, reason });
    }
    if (isInstalled(origin)) this.#refuseLinks(source, [relative(this.#root, origin.path)]);
    return origin;
  }

  /** A project's files may be links that lead anywhere; only files inside the project may be written. */
  #refuseLinks(option: string, names: readonly string[]): void {
    const { cwd, scope } = this.#place;
    if (scope === "user") return;
    using door = new FolderDoor(realpathSync(cwd));
    for (const name of names) {
      const parts = join(".pi", name).split(sep);
      parts.forEach((_, index) => {
        const path = parts.slice(0, index + 1).join("/");
        if (!door.look(Buffer.from(path).toString("latin1"))?.isSymbolicLink()) return;
        const reason = `${path} is a symbolic link: what is installed for a project has to be in it. Remove the link.`;
        throw new SessionError("invalid_option", { option, reason });
      });
    }
  }

  #entries() {
    return this.#settings.packages
      .filter(({ scope }) => scope === this.#place.scope)
      .map(({ entry }) => {
        const source = typeof entry === "string" ? entry : entry.source;
        return { entry, source, ...this.#origin(source) };
      });
  }

  #listed(given: string) {
    const wanted = this.#origin(this.#fromHere(given)).identity;
    const found = this.#entries().find(({ identity, source }) =>
      [identity, source].some((name) => name === wanted || name === given),
    );
    if (found !== undefined) return found;
    throw new SessionError("package_not_found", { source: given });
  }

  /** Checks that a source can be installed, and returns it in the form for the settings. */
  #checked(given: string): string {
    const source = this.#fromHere(given.trim());
    if (source.startsWith("npm:")) readNpmSpec(source);
    const { path, installCommand } = this.#origin(source);
    if (given.trim() === "" || (installCommand === undefined && !existsSync(path))) {
      throw new SessionError("invalid_option", {
        option: given,
        reason: `there is no file ${path}; a package is npm:<name>, git:<address> or a path`,
      });
    }
    return source;
  }

  /** A path given relative to the working folder, made relative to the settings file. */
  #fromHere(given: string): string {
    if (/^(?:npm|git):|^[a-z]+:\/\//.test(given) || isAbsolute(given) || given.startsWith("~")) {
      return given;
    }
    const path = join(this.#place.cwd, given);
    return this.#place.scope === "user" ? path : relative(this.#root, path) || ".";
  }

  async #fetch(source: string, which: "as named" | "newest"): Promise<void> {
    const tools = { root: this.#root, run: this.#run };
    if (source.startsWith("npm:")) return installFromNpm(source, which, tools);
    const origin = this.#origin(source);
    if (isInstalled(origin)) await cloneRepository(source, origin, tools);
  }

  async #append(source: string): Promise<void> {
    await this.#settings.append(this.#place.scope, "packages", source);
  }

  /** Replaces a source and keeps the rest of its entry; undefined removes the entry. */
  async #replace(old: string, source: string | undefined): Promise<void> {
    await this.#settings.reload();
    const packages = this.#entries().flatMap((listed) => {
      if (listed.source !== old) return [listed.entry];
      if (source === undefined) return [];
      return [typeof listed.entry === "string" ? source : { ...listed.entry, source }];
    });
    await this.#settings.save(this.#place.scope, { packages });
  }

  async #describe(source: string): Promise<ListedPackage> {
    const origin = this.#origin(source);
    const { path } = origin;
    const described = { source, path, isInstalled: existsSync(path) };
    if (!described.isInstalled) return described;
    if (source.startsWith("npm:")) {
      const file = await readJsonFile(join(path, "package.json"));
      const version = file.kind === "object" ? file.value.version : undefined;
      return { ...described, pin: typeof version === "string" ? version : undefined };
    }
    return { ...described, pin: isInstalled(origin) ? await headOf(path, this.#run) : undefined };
  }

  /** Excludes all other processes that install in the same place. */
  async #locked<Result>(work: () => Promise<Result>): Promise<Result> {
    const path = join(this.#root, "packages");
    this.#refuseLinks("-l", ["settings.json", "packages", ...manifests]);
    for (let tries = 1; ; tries += 1) {
      try {
        return await withFileLock(path, work);
      } catch (error) {
        const isBusy = error instanceof SessionError && error.code === "file_locked";
        if (!isBusy || tries === LOCK_TRIES) throw error;
      }
    }
  }
}

/** Whether a package is copied when installed, rather than used in place. */
function isInstalled({ installCommand }: PackageOrigin): boolean {
  return installCommand !== undefined;
}
