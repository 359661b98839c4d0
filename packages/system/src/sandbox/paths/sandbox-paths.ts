import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside, isolatedTreeOf } from "../../base/files/isolated-tree.ts";
import { keyFileNames } from "../../base/files/key-files.ts";
import { type SandboxPolicy, settingPath } from "../policy/sandbox-settings.ts";
import { GitSettings } from "./git-settings.ts";
import type { PathPlan } from "./path-rules.ts";
import type { PrivateFolders } from "./private-folders.ts";
import { resolveLinks } from "./resolve-links.ts";

export interface SandboxPlaces {
  /** The folder in which tools currently work. */
  readonly cwd: () => string;
  readonly homeDirectory: string;
  readonly agentDirectory: string;
  readonly temporaryDirectory: string;
  /** The host's own environment, which names the sockets of programs outside. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Other processes of the same host. */
  readonly hostProcesses?: readonly number[] | undefined;
  readonly keyFiles: readonly string[];
  /** Folders of the host that stay visible even where a private folder would hide them. */
  readonly shown?: readonly string[] | undefined;
}

/** Names in the agent directory that are never readable: keys, and the host's own data. */
export const closedNames: ReadonlySet<string> = new Set([...keyFileNames, "rewind", "sandbox"]);

/** The paths of a session's policy, real and current. */
export class SandboxPaths implements PathPlan {
  readonly #policy: SandboxPolicy;
  readonly #places: SandboxPlaces;
  readonly #folders: PrivateFolders;
  readonly #git: GitSettings;
  readonly #hostCode = new Set<string>();

  constructor(policy: SandboxPolicy, places: SandboxPlaces, folders: PrivateFolders) {
    this.#policy = policy;
    this.#places = places;
    this.#folders = folders;
    this.#git = new GitSettings(places.environment);
  }

  get cwd(): string {
    return resolveLinks(this.#places.cwd()).path;
  }

  get agentDirectory(): string {
    return resolveLinks(this.#places.agentDirectory).path;
  }

  get named(): readonly string[] {
    const own = this.#policy.mode === "workspace" ? [this.cwd] : [];
    return [...own, ...this.#listed(this.#policy.write)];
  }

  get writable(): readonly string[] {
    return [...this.named, ...this.#folders.mounts.map(({ real }) => real)];
  }

  get denied(): readonly string[] {
    const agent = this.agentDirectory;
    const closed = [...closedNames].map((name) => join(agent, name));
    return [
      ...new Set([...closed, ...closed.map((path) => resolveLinks(path).path)]),
      ...this.#places.keyFiles.map((file) => resolveLinks(file).path),
      ...this.#listed(this.#policy.denyRead),
    ];
  }

  /** Folders of the host that are read-only. */
  get shown(): readonly string[] {
    return (this.#places.shown ?? []).map((path) => resolveLinks(path).path);
  }

  /** The host's own folders, without those that contain the working folder, as for the tree of an isolated task. */
  get readOnly(): readonly string[] {
    return [this.agentDirectory, ...this.shown].filter((folder) => !isInside(folder, this.cwd));
  }

  /** The repository of the isolated tree with the working folder; it is beside the tree. */
  get treeRepository(): string | undefined {
    const tree = isolatedTreeOf(this.cwd, join(this.agentDirectory, "worktrees"));
    const repository = tree && `${tree}.git`;
    return repository !== undefined && existsSync(repository) ? repository : undefined;
  }

  get hostNamed(): readonly string[] {
    const { cwd, denied } = this;
    const isIn = (path: string) => path !== cwd && isInside(cwd, path);
    const isOpen = (path: string) => !denied.some((each) => isInside(each, path));
    const named = new Set([...this.#git.places(cwd), ...this.#hostCode]);
    return [...named].filter(isIn).filter(isOpen);
  }

  /** Notes code that the host runs outside: the paths and their targets. */
  keepForHost(paths: readonly string[]): void {
    for (const path of paths) {
      this.#hostCode.add(join(resolveLinks(dirname(path)).path, basename(path)));
      this.#hostCode.add(resolveLinks(path).path);
    }
  }

  hostPath(path: string): string {
    const { root, output } = this.#folders;
    const shown = [this.cwd, ...this.named, this.agentDirectory, ...this.shown, root, output];
    if (shown.some((each) => isInside(each, path))) return path;
    return this.#folders.realPath(path) ?? path;
  }

  seenPath(path: string): string {
    const mount = this.#folders.mounts.find(({ real }) => isInside(real, path));
    return mount === undefined ? path : mount.seen + path.slice(mount.real.length);
  }

  #listed(paths: readonly string[]): readonly string[] {
    const base = { cwd: this.#places.cwd(), homeDirectory: this.#places.homeDirectory };
    return paths.map((path) => resolveLinks(settingPath(path, base)).path);
  }
}
