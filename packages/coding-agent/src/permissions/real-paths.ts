import nodePath, { type PlatformPath, posix, win32 } from "node:path";
import { isWorkspaceError, type Workspace } from "@tau-agent/rpc-protocol/workspace";
import { realPlaceOf, type ToolEnvironment } from "@tau-agent/system";

/** Resolves all links in paths, in the workspace of a session. */
export interface RealPaths {
  /** The path functions of its platform. */
  readonly path: PlatformPath;
  /** The current real path of a file that a call works on. */
  of(path: string): string | Promise<string>;
  /** The real path of a folder that rules start from. */
  ofFolder(path: string): string | Promise<string>;
}

/** The real paths of this machine, available synchronously. */
export const realPathsHere: RealPaths = { path: nodePath, of: realPlaceOf, ofFolder: realPlaceOf };

export function realPathsIn(
  environment: Pick<ToolEnvironment, "cwd" | "workspace" | "isWindows">,
): RealPaths {
  return environment.workspace.id === "local" ? realPathsHere : new FarRealPaths(environment);
}

/** For workspaces where every query is a round trip: each path takes one, and folders are queried once. */
class FarRealPaths implements RealPaths {
  readonly path: PlatformPath;
  readonly #place: { readonly cwd: string; readonly workspace: Pick<Workspace, "stat"> };
  readonly #folders = new Map<string, Promise<string>>();

  constructor(place: Pick<ToolEnvironment, "cwd" | "workspace" | "isWindows">) {
    this.#place = place;
    this.path = (place.isWindows ?? nodePath === win32) ? win32 : posix;
  }

  /**
   * A path that does not exist yet is resolved from its nearest existing parent. The target of a dangling link could be
   * created anywhere, so the link counts as outside of every folder.
   *
   * @throws {WorkspaceError} if the workspace cannot answer, because paths are not judged by guesses
   */
  async of(path: string): Promise<string> {
    const { join, relative, resolve } = this.path;
    const { cwd } = this.#place;
    const whole = resolve(cwd, path);
    // The real paths of the working folder and its parents are known.
    const isBelow = whole !== cwd && this.#ancestors(whole).includes(cwd);
    const top = isBelow ? { path: cwd, real: this.ofFolder(cwd) } : this.#rootOf(whole);
    const ways = this.#ancestors(whole, top.path);
    const [base, ...found] = await Promise.all([top.real, ...ways.map((way) => this.#look(way))]);
    const at = found.findIndex((real) => real !== undefined);
    return join(found[at] ?? base, relative(ways[at] ?? top.path, whole));
  }

  ofFolder(path: string): Promise<string> {
    const known = this.#folders.get(path);
    if (known !== undefined) return known;
    const asked = this.of(path);
    this.#folders.set(path, asked);
    asked.catch(() => this.#folders.delete(path));
    return asked;
  }

  #rootOf(path: string) {
    const { root } = this.path.parse(path);
    return { path: root, real: root };
  }

  /** A path and its parent folders, the nearest first, up to but without `top`. */
  #ancestors(path: string, top = ""): readonly string[] {
    const ways: string[] = [];
    for (let at = path; at !== top && at !== ways.at(-1); at = this.path.dirname(at)) ways.push(at);
    return ways;
  }

  /** Undefined if the path does not exist or cannot be read. */
  async #look(path: string): Promise<string | undefined> {
    const { workspace } = this.#place;
    try {
      const [found, link] = await Promise.all([
        workspace.stat(path),
        workspace.stat(path, { followLinks: false }),
      ]);
      if (found === undefined) return link && this.#rootOf(path).real;
      return found.realPath ?? path;
    } catch (error) {
      if (isWorkspaceError(error, "not_found", "not_a_directory", "not_allowed")) return undefined;
      throw error;
    }
  }
}

/** A path with slashes, as in rules and globs. */
export function withSlashes(path: string, { sep }: Pick<PlatformPath, "sep">): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
