import type { WorkspaceSearchRequest } from "@tau-agent/rpc-protocol/workspace";
import { type GlobFilter, globFilter } from "../../base/files/glob-filter.ts";
import type { FoundLine } from "./found-lines.ts";

const maxContext = 1000;

/** Where a search starts. */
export interface SearchRoot {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** A search in the contents of files, in the form that all search methods take. */
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
  /** The number of matches needed; more may be reported. */
  readonly limit: number;
  /** Takes a line; returning false ends the search. */
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

/** The number of context lines around each match. */
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

/** The error for a pattern that the search does not understand. */
export function patternProblem(pattern: string, reason: string): string {
  return `Cannot search for ${JSON.stringify(pattern)}: ${reason}\nCorrect the pattern, or set literal to search for plain text.`;
}
