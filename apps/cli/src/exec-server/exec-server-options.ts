import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

export interface ExecServerOptions {
  /** The initial working directory. */
  readonly cwd: string;
  /** Files outside these folders cannot be opened; undefined for no limit. */
  readonly roots: readonly string[] | undefined;
}

export type RefuseOption = (option: string, reason: string) => never;

/**
 * The folders of an exec server, as real paths. Without `--cwd`, the working directory is the current folder
 * or, if that is outside all roots, the first root.
 */
export function readExecServerOptions(
  given: { readonly cwd?: string | undefined; readonly root?: readonly string[] | undefined },
  current: string,
  refuse: RefuseOption,
): ExecServerOptions {
  const realFolder = (option: string, path: string): string => {
    const absolute = resolve(current, path);
    if (path === "" || !statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) {
      refuse(option, `it is not a folder: ${absolute}`);
    }
    return realpathSync.native(absolute);
  };
  const roots = given.root?.map((root) => realFolder("--root", root));
  const isReachable = (path: string): boolean =>
    roots?.some((root) => isInside(root, realpathSync.native(path))) ?? true;
  if (given.cwd === undefined) {
    const [first = current] = roots ?? [];
    return { cwd: isReachable(current) ? current : first, roots };
  }
  const cwd = realFolder("--cwd", given.cwd);
  if (!isReachable(cwd)) refuse("--cwd", `${cwd} is outside of each --root`);
  return { cwd, roots };
}

/**
 * Parses the arguments of the stand-alone exec server.
 *
 * @param words without the program
 */
export function readWords(
  words: readonly string[],
  refuse: RefuseOption,
): { readonly cwd?: string; readonly root?: readonly string[] } {
  let cwd: string | undefined;
  const root: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [word = "", inline] = splitAtSign(words[at] ?? "");
    if (word !== "--cwd" && word !== "--root") {
      refuse(word, "there is no such option; known are --cwd <folder> and --root <folder>");
    }
    if (inline === undefined) at += 1;
    const value = inline ?? words[at];
    if (value === undefined) refuse(word, "a folder must follow");
    if (word === "--root") root.push(value);
    else cwd = value;
  }
  return { ...(cwd === undefined ? {} : { cwd }), ...(root.length === 0 ? {} : { root }) };
}

function splitAtSign(word: string): readonly string[] {
  const at = word.indexOf("=");
  return at === -1 || !word.startsWith("--") ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return (
    way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path)
  );
}
