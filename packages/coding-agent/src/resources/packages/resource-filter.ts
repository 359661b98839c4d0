import { basename, dirname, relative, sep } from "node:path";
import { globMatcher } from "@tau-agent/system";

export type FileTest = (path: string) => boolean;

interface Rule {
  readonly mark: string;
  readonly fits: FileTest;
}

/**
 * Creates a test from a list of entries: plain patterns select (all files if there are none), `!pattern` excludes,
 * `+path` includes again, and `-path` takes precedence over all. A pattern matches the path from `root`, the whole
 * path, or the file's name; for a skill also its folder.
 */
export function createResourceFilter(entries: readonly string[], root: string): FileTest {
  const rules = entries.map((entry) => ruleOf(entry, root));
  const fitsOne = (mark: string, path: string): boolean =>
    rules.some((rule) => rule.mark === mark && rule.fits(path));
  const choosesAll = !rules.some(({ mark }) => mark === "");
  return (path) => {
    if (fitsOne("-", path)) return false;
    if (fitsOne("+", path)) return true;
    return !fitsOne("!", path) && (choosesAll || fitsOne("", path));
  };
}

/** A test for packages that contribute nothing by default: the last matching entry decides. */
export function createOptInFilter(entries: readonly string[], root: string): FileTest {
  const rules = entries.map((entry) => ruleOf(entry, root));
  return (path) => {
    const mark = rules.findLast(({ fits }) => fits(path))?.mark;
    return mark === "" || mark === "+";
  };
}

function ruleOf(entry: string, root: string): Rule {
  const mark = /^[-+!]/.exec(entry)?.[0] ?? "";
  const pattern = entry
    .slice(mark.length)
    .replace(/^\.[/\\]/, "")
    .replace(/[/\\]+$/, "");
  const isExact = mark === "+" || mark === "-";
  const matches = isExact ? (name: string) => name === pattern : globMatcher(pattern);
  return { mark, fits: (path) => namesOf(path, root, isExact).some((name) => matches(name)) };
}

function namesOf(path: string, root: string, isExact: boolean): string[] {
  const places = basename(path) === "SKILL.md" ? [path, dirname(path)] : [path];
  return places.flatMap((place) => {
    const names = [relative(root, place), place, ...(isExact ? [] : [basename(place)])];
    return names.map((name) => name.split(sep).join("/"));
  });
}
