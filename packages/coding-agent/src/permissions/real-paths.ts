import nodePath, { type PlatformPath, posix, win32 } from "node:path";
import { isWorkspaceError, type Workspace } from "@tau-agent/rpc-protocol/workspace";
import { realPlaceOf, type ToolEnvironment } from "@tau-agent/system";

/** Paths with all links resolved, as the workspace of a session has them. */
export interface RealPaths {
  /** The path arithmetic of its platform. */
  readonly path: PlatformPath;
  /** Of a file that a call works on: as it is now. */
  of(path: string): string | Promise<string>;
  /** Of a folder that rules start from. */
  ofFolder(path: string): string | Promise<string>;
}

/** Those of this machine, at once. */
export const realPathsHere: RealPaths = { path: nodePath, of: realPlaceOf, ofFolder: realPlaceOf };

export function realPathsIn(
  environment: Pick<ToolEnvironment, "cwd" | "workspace" | "isWindows">,
): RealPaths {
  return environment.workspace.id === "local" ? realPathsHere : new FarRealPaths(environment);
}

/** Where every look is a round trip: each path takes one, and folders are asked for once. */
class FarRealPaths implements RealPaths {
  readonly path: PlatformPath;
  readonly #place: { readonly cwd: string; readonly workspace: Pick<Workspace, "stat"> };
  readonly #folders = new Map<string, Promise<string>>();

  constructor(place: Pick<ToolEnvironment, "cwd" | "workspace" | "isWindows">) {
    this.#place = place;
    this.path = (place.isWindows ?? nodePath === win32) ? win32 : posix;
  }

  /**
   * What does not exist yet is where it would be made: below the nearest folder that does. A link that
   * leads nowhere may lead anywhere, so it counts as outside of every folder.
   *
   * @throws {WorkspaceError} when the workspace cannot answer: no path is judged by a guess
   */
  async of(path: string): Promise<string> {
    const { join, relative, resolve } = this.path;
    const { cwd } = this.#place;
    const whole = resolve(cwd, path);
    // Of the working folder and those above it the answer is known.
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

  /** A path and the folders above it, the nearest first, up to the top and without it. */
  #ancestors(path: string, top = ""): readonly string[] {
    const ways: string[] = [];
    for (let at = path; at !== top && at !== ways.at(-1); at = this.path.dirname(at)) ways.push(at);
    return ways;
  }

  /** Undefined where nothing is, or nothing can be looked at. */
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

/** A path as rules and globs have it. */
export function withSlashes(path: string, { sep }: Pick<PlatformPath, "sep">): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
