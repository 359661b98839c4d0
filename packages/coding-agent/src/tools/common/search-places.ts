import { ToolError } from "@tau-agent/agent";
import {
  isWorkspaceError,
  type WorkspaceMatch,
  type WorkspaceSearchRequest,
  type WorkspaceSearchResult,
} from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import { fileProblem, reachOf } from "./file-problem.ts";
import { openExisting, pathsOf, toPosix } from "./paths.ts";
import { isOtherKind } from "./read-chunks.ts";

/** The maximum number of matches that are examined to find those that may be shown. */
const maxMatches = 100_000;

/** Where to search, and what may be shown. */
export interface SearchedPlace {
  /** The `path` argument of the tool. */
  readonly written: string | undefined;
  /** Filters single results by the rules of permissions and the sandbox. */
  readonly mayShow: (path: string) => boolean;
}

/** The matches that may be shown, and the path at which the search started. */
export async function searchPlaces(
  request: Omit<WorkspaceSearchRequest, "path" | "within">,
  { written, mayShow }: SearchedPlace,
  environment: ToolEnvironment,
): Promise<WorkspaceSearchResult & { readonly root: string }> {
  const shown = written || ".";
  request.signal?.throwIfAborted();
  const within = reachOf("read", { sandbox: environment.sandbox });
  try {
    return await openExisting(shown, environment, async (path) => {
      const { sep } = pathsOf(environment);
      const isClosed = await environment.closedBelow?.(request.kind, path);
      const isShown = (match: WorkspaceMatch) => {
        const file = match.path.endsWith(sep) ? match.path.slice(0, -1) : match.path;
        // A rule closes files below the searched folder, but not a file that the call names.
        return mayShow(file) && (file === path || isClosed?.(file) !== true);
      };
      const search = (limit: number) =>
        searchOnce({ ...request, limit, path, within }, environment);
      const found = await searchUntilFull(request.limit, search, isShown);
      return { ...found, root: path };
    });
  } catch (error) {
    throw await searchProblem(error, { kind: request.kind, shown, written }, environment);
  }
}

async function searchOnce(
  request: WorkspaceSearchRequest,
  { workspace }: ToolEnvironment,
): Promise<WorkspaceSearchResult> {
  if (workspace.search !== undefined) {
    try {
      return await workspace.search(request);
    } catch (error) {
      if (!isWorkspaceError(error, "unsupported")) throw error;
    }
  }
  const { searchByListing } = await import("@tau-agent/system");
  return searchByListing(workspace, request);
}

/** Searches again with a higher limit if some matches are not shown. */
async function searchUntilFull(
  wanted: number,
  search: (limit: number) => Promise<WorkspaceSearchResult>,
  isShown: (match: WorkspaceMatch) => boolean,
): Promise<WorkspaceSearchResult> {
  for (let limit = wanted; ; limit *= 4) {
    const { matches, truncated } = await search(limit);
    const shown = matches.filter(isShown);
    const isEnough = shown.length >= wanted || !truncated;
    // Fewer than the limit: more matches would make the answer too large.
    if (isEnough || matches.length < limit || limit >= maxMatches) {
      const isMore = truncated || shown.length > wanted;
      return { matches: shown.slice(0, wanted), truncated: isMore };
    }
  }
}

async function searchProblem(
  error: unknown,
  search: {
    readonly kind: WorkspaceSearchRequest["kind"];
    readonly shown: string;
    readonly written: string | undefined;
  },
  environment: ToolEnvironment,
): Promise<unknown> {
  const { kind, shown } = search;
  const options = { cause: error };
  if (isWorkspaceError(error, "not_found")) {
    const text = `Path not found: ${shown}. Check it with ls of its parent.`;
    return new ToolError(text, undefined, options);
  }
  if (kind === "find" && isWorkspaceError(error, "not_a_directory")) {
    return new ToolError(`Not a directory: ${shown}. Use read for a file.`, undefined, options);
  }
  if (isWorkspaceError(error, "failed")) {
    if (await isOtherKind(error, environment)) {
      const text = `${shown} is not a regular file. Use bash to read from it.`;
      return new ToolError(text, undefined, options);
    }
    if (error.message.startsWith("Cannot search")) {
      return new ToolError(error.message, undefined, options);
    }
  }
  return fileProblem(error, { action: "search", shown }, environment);
}

/** A result's path for the model: with slashes, relative to the searched folder. */
export function relativeTo(root: string, path: string, environment: ToolEnvironment): string {
  const { sep } = pathsOf(environment);
  const prefix = root.endsWith(sep) ? root : root + sep;
  return toPosix(path.startsWith(prefix) ? path.slice(prefix.length) : path, environment);
}
