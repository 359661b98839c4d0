import type { WorkspaceSearchRequest } from "@tau-agent/rpc-protocol/workspace";
import { type GlobFilter, globFilter } from "../../base/files/glob-filter.ts";
import type { FoundLine } from "./found-lines.ts";

const maxContext = 1000;

/** Where a search starts. */
export interface SearchRoot {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** A search in the contents of files, as its ways of searching take it. */
export interface LineSearch {
  readonly pattern: string;
  readonly isLiteral: boolean;
  readonly ignoresCase: boolean;
  readonly context: number;
  readonly root: SearchRoot;
  readonly glob: string | undefined;
  /** The glob as a filter for relative paths. */
  readonly filter: GlobFilter | undefined;
  readonly signal: AbortSignal | undefined;
  /** How many matches are wanted; more may be reported. */
  readonly limit: number;
  /** Takes a line; false ends the search. */
  readonly onLine: (line: FoundLine) => boolean;
}

export function lineSearch(
  request: WorkspaceSearchRequest,
  root: SearchRoot,
  onLine: LineSearch["onLine"],
): LineSearch {
  const glob = request.glob?.trim() || undefined;
  const { pattern, limit, signal } = request;
  return {
    ...{ pattern, limit, signal, root, glob, onLine },
    isLiteral: request.literal === true,
    ignoresCase: request.ignoreCase === true,
    context: contextOf(request),
    filter: glob === undefined ? undefined : filterOf(glob),
  };
}

/** How many lines around each match a search shows. */
export function contextOf({ context = 0 }: Pick<WorkspaceSearchRequest, "context">): number {
  return context > 0 ? Math.min(maxContext, Math.floor(context)) : 0;
}

function filterOf(glob: string): GlobFilter {
  if (!glob.startsWith("!")) return globFilter(glob);
  const { matches } = globFilter(glob.slice(1));
  // As in .gitignore, a matching directory includes everything below it.
  const isExcluded = (path: string): boolean => {
    if (matches(path)) return true;
    const slash = path.lastIndexOf("/");
    return slash !== -1 && isExcluded(path.slice(0, slash));
  };
  return { matches: (path) => !isExcluded(path), canMatchBelow: () => true };
}

/** What a search says of a pattern that it does not understand. */
export function patternProblem(pattern: string, reason: string): string {
  return `Cannot search for ${JSON.stringify(pattern)}: ${reason}\nCorrect the pattern, or set literal to search for plain text.`;
}
