import { join } from "node:path";
import { absolutePath } from "../files/places.ts";

export interface PackageOrigin {
  /** The same for all ways to name one package. */
  readonly identity: string;
  /** The folder it is installed in; a file for a single extension. */
  readonly path: string;
  /** A command that installs it; undefined for a package that is used in place. */
  readonly installCommand: string | undefined;
  readonly isPinned: boolean;
  /** The address of a repository. */
  readonly url?: string;
  /** The branch, tag or commit of a repository. */
  readonly ref?: string | undefined;
}

/** Where packages of one scope are installed, and the base of relative paths. */
export interface PackageFolders {
  /** `<agent dir>`, or `.pi` of the project. */
  readonly root: string;
  readonly baseDirectory: string;
  readonly homeDirectory: string;
}

/** Whether a text names a package to install rather than a path. */
function isInstalledSource(source: string): boolean {
  return /^(npm|git):|^(https?|ssh|git):\/\//.test(source);
}

/** Parses `npm:name@version`, `git:host/owner/repository@ref`, a repository address, or a path. */
export function parsePackageSource(source: string, folders: PackageFolders): PackageOrigin {
  const { root, baseDirectory, homeDirectory } = folders;
  const text = source.trim();
  if (text.startsWith("npm:")) {
    const spec = text.slice("npm:".length).trim();
    const name = /^(@?[^@]+)/.exec(spec)?.[1] ?? spec;
    return {
      identity: `npm:${name}`,
      path: join(root, "npm", "node_modules", ...name.split("/")),
      // Scripts of packages are disabled: they would run with the user's keys before anybody has checked them.
      isPinned: spec.length > name.length,
      installCommand: `npm install --ignore-scripts --prefix ${quoted(join(root, "npm"))} -- ${quoted(spec)}`,
    };
  }
  if (isInstalledSource(text)) return repositoryOf(text, root);
  const path = absolutePath(text, baseDirectory, homeDirectory);
  return { identity: path, path, installCommand: undefined, isPinned: true };
}

function repositoryOf(source: string, root: string): PackageOrigin {
  const address = source.replace(/^git:(?!\/\/)/, "").trim();
  const bare = address
    .replace(/^file:\/\//, "localhost")
    .replace(/^[a-z]+:\/\//, "")
    .replace(/^[^@/]+@(?=[^/]*[/:])/, "");
  const [, host = "", rest = ""] = /^([^/:]+)[/:](?:\d+\/)?(.*)$/.exec(bare) ?? [];
  const [, repository = rest, ref = ""] = /^([^@#]+)(?:[@#](.*))?$/.exec(rest) ?? [];
  const name = repository.replace(/\.git$|\/+$/g, "");
  const path = join(root, "git", host, ...name.split("/").filter((part) => part !== ".."));
  const isWhole =
    /^[a-z]+:\/\//.test(address) || (address.includes("@") && /^[^/]+@/.test(address));
  const url = isWhole
    ? address.slice(0, address.length - (ref === "" ? 0 : ref.length + 1))
    : `https://${host}/${name}`;
  const branch = ref === "" ? "" : `--branch ${quoted(ref)} `;
  return {
    identity: `git:${host}/${name}`,
    path,
    isPinned: ref !== "",
    url,
    ref: ref === "" ? undefined : ref,
    installCommand: `git clone ${branch}-- ${quoted(url)} ${quoted(path)}`,
  };
}

/** Quotes a word for a shell; a project's settings may contain anything. */
function quoted(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
