import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "../../base/attempt.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import { resolveLinks } from "./resolve-links.ts";

const TIMEOUT_MS = 5_000;

/**
 * Files in the working folder that git's settings include, and the hooks folder if it is there;
 * read again when the repository's own settings change.
 */
export class GitSettings {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #known: { readonly key: string; readonly places: readonly string[] } | undefined;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment;
  }

  /** @param cwd a real path */
  places(cwd: string): readonly string[] {
    const key = `${cwd}\n${stampOf(join(cwd, ".git", "config"))}\n${stampOf(join(cwd, "config"))}`;
    if (this.#known?.key !== key) this.#known = { key, places: this.#read(cwd) };
    return this.#known.places;
  }

  #read(cwd: string): readonly string[] {
    const listed = this.#git(cwd, "config", "--list", "--show-origin", "-z");
    if (listed === undefined) return [];
    const files = new Set<string>();
    let hooks: string | undefined;
    const fields = listed.split("\0");
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [origin = "", setting = ""] = fields.slice(at, at + 2);
      if (origin.startsWith("file:")) files.add(resolve(cwd, origin.slice("file:".length)));
      if (setting.startsWith("core.hookspath\n")) hooks = setting.slice("core.hookspath\n".length);
    }
    const inside = (path: string) => isInside(cwd, path) && path !== cwd;
    const folder = hooks === undefined ? [] : [this.#hooks(cwd, hooks)];
    return [...[...files].map((file) => resolveLinks(file).path), ...folder].filter(inside);
  }

  /** A relative path is resolved against the top of the work tree, where hooks run. */
  #hooks(cwd: string, named: string): string {
    const home = this.#environment.HOME ?? "";
    const path = named.startsWith("~/") ? join(home, named.slice(2)) : named;
    const top = this.#git(cwd, "rev-parse", "--show-toplevel")?.replace(/\n$/, "") || cwd;
    const folder = resolve(top, path);
    // husky's hooks run files in the folder above theirs.
    return resolveLinks(basename(folder) === "_" ? dirname(folder) : folder).path;
  }

  #git(cwd: string, ...args: string[]): string | undefined {
    const { HOME, XDG_CONFIG_HOME, PATH } = this.#environment;
    // Fails without a repository, such a setting, or git.
    return attempt(() =>
      execFileSync("git", args, {
        cwd,
        encoding: "utf8",
        timeout: TIMEOUT_MS,
        stdio: ["ignore", "pipe", "ignore"],
        env: { HOME, XDG_CONFIG_HOME, PATH },
      }),
    );
  }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
