import { globMatcher } from "./glob-matcher.ts";

interface Rule {
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  /** Without a slash a rule is for names at any depth, with one for paths. */
  readonly isForNames: boolean;
  readonly matches: (nameOrPath: string) => boolean;
}

/** What a .gitignore says of a path; undefined where it says nothing. */
export type IgnoreRules = (path: string, isDirectory: boolean) => "ignored" | "wanted" | undefined;

/** So many rules in one file are a reason to look at the time they take. */
const MANY_RULES = 1000;
/** After this time they no longer count: then more is found than git would look at. */
const MAX_MS = 1000;

/**
 * Reads the text of a .gitignore. Paths are posix and relative to its folder; that no folder above
 * them is ignored is for the caller to see. Repositories bring such files, so no rule may take long:
 * see {@link globMatcher}.
 */
export function readIgnoreRules(text: string): IgnoreRules {
  // The last rule that fits decides.
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

/** Blanks at the end do not count, unless a backslash precedes them. */
function withoutBlanksAtEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
