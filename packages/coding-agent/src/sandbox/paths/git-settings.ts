import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isInside } from "../../base/files/isolated-tree.ts";
import { resolveLinks } from "./resolve-links.ts";

/** Places in the working folder that settings of git name. */
export interface GitNamedPlaces {
  /** Files that settings include. */
  readonly files: readonly string[];
  /** The folder with hooks. */
  readonly hooks: string | undefined;
}

const none: GitNamedPlaces = { files: [], hooks: undefined };
const TIMEOUT_MS = 5_000;

/** What git's settings name in a working folder; read again when the repository's own settings change. */
export class GitSettings {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #known: { readonly key: string; readonly places: GitNamedPlaces } | undefined;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment;
  }

  /** @param cwd its real path */
  places(cwd: string): GitNamedPlaces {
    const key = `${cwd}\n${stampOf(join(cwd, ".git", "config"))}\n${stampOf(join(cwd, "config"))}`;
    if (this.#known?.key !== key) this.#known = { key, places: this.#read(cwd) };
    return this.#known.places;
  }

  #read(cwd: string): GitNamedPlaces {
    const listed = this.#git(cwd, "config", "--list", "--show-origin", "-z");
    if (listed === undefined) return none;
    const files = new Set<string>();
    let hooks: string | undefined;
    const fields = listed.split("\0");
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [origin = "", setting = ""] = fields.slice(at, at + 2);
      if (origin.startsWith("file:")) files.add(resolve(cwd, origin.slice("file:".length)));
      if (setting.startsWith("core.hookspath\n")) hooks = setting.slice("core.hookspath\n".length);
    }
    const inside = (path: string) => isInside(cwd, path) && path !== cwd;
    return {
      files: [...files].map((file) => resolveLinks(file).path).filter(inside),
      hooks: hooks && this.#hooks(cwd, hooks, inside),
    };
  }

  /** A relative path starts at the top of the work tree, where hooks run. */
  #hooks(cwd: string, named: string, inside: (path: string) => boolean): string | undefined {
    const home = this.#environment.HOME ?? "";
    const path = named.startsWith("~/") ? join(home, named.slice(2)) : named;
    const top = this.#git(cwd, "rev-parse", "--show-toplevel")?.replace(/\n$/, "") || cwd;
    const folder = resolve(top, path);
    // husky's hooks run the files beside their folder.
    const real = resolveLinks(basename(folder) === "_" ? dirname(folder) : folder).path;
    return inside(real) ? firstMissing(real) : undefined;
  }

  #git(cwd: string, ...args: string[]): string | undefined {
    const { HOME, XDG_CONFIG_HOME, PATH } = this.#environment;
    try {
      return execFileSync("git", args, {
        cwd,
        encoding: "utf8",
        timeout: TIMEOUT_MS,
        stdio: ["ignore", "pipe", "ignore"],
        env: { HOME, XDG_CONFIG_HOME, PATH },
      });
    } catch {
      // No repository, no such setting, no git.
      return undefined;
    }
  }
}

/** A path, or the first folder of the way to it that is not there. */
function firstMissing(path: string): string {
  const parent = dirname(path);
  return existsSync(path) || existsSync(parent) ? path : firstMissing(parent);
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
