import { globMatcher } from "./glob-matcher.ts";

interface Rule {
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  /** A rule without a slash matches names at any depth; one with a slash matches paths. */
  readonly isForNames: boolean;
  readonly matches: (nameOrPath: string) => boolean;
}

/** The verdict of a .gitignore on a path; undefined if no rule matches. */
export type IgnoreRules = (path: string, isDirectory: boolean) => "ignored" | "wanted" | undefined;

/** From this number of rules in one file on, the time they take is measured. */
const MANY_RULES = 1000;
/** After this time the rules no longer apply, so a search finds more than git would. */
const MAX_MS = 1000;

/**
 * Reads the text of a .gitignore. Paths are posix and relative to its folder; the caller checks that no folder
 * above them is ignored. Repositories supply these files, so no rule may take long: see {@link globMatcher}.
 */
export function readIgnoreRules(text: string): IgnoreRules {
  // The last matching rule decides.
  const forFolders = text.split(/\r?\n/).flatMap(ruleOf).reverse();
  const forFiles = forFolders.filter(({ isForFolders }) => !isForFolders);
  const isMany = forFolders.length > MANY_RULES;
  let spentMs = 0;
  const timed = (path: string, isDirectory: boolean) => {
    if (spentMs > MAX_MS) return undefined;
    const began = performance.now();
    const verdict = verdictOf(path, isDirectory);
    spentMs += performance.now() - began;
    return verdict;
  };
  const verdictOf: IgnoreRules = (path, isDirectory) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    for (const { isForNames, isNegated, matches } of isDirectory ? forFolders : forFiles) {
      if (matches(isForNames ? name : path)) return isNegated ? "wanted" : "ignored";
    }
    return undefined;
  };
  return isMany ? timed : verdictOf;
}

function ruleOf(line: string): Rule[] {
  const written = withoutBlanksAtEnd(line);
  if (written === "" || written.startsWith("#")) return [];
  const isNegated = written.startsWith("!");
  const pattern = isNegated ? written.slice(1) : written;
  const isForFolders = pattern.endsWith("/");
  const name = isForFolders ? pattern.slice(0, -1) : pattern;
  if (name === "") return [];
  const matches = globMatcher(name.replace(/^\//, ""), { hasBraces: false, restMayBeEmpty: false });
  return [{ isNegated, isForFolders, isForNames: !name.includes("/"), matches }];
}

/** Trailing blanks do not count unless a backslash precedes them. */
function withoutBlanksAtEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
