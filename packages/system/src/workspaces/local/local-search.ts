import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type {
  WorkspaceSearchRequest,
  WorkspaceSearchResult,
} from "@tau-agent/rpc-protocol/workspace";
import { openRegularFile } from "../../base/files/open-regular-file.ts";
import { unlessLimited } from "../../base/files/unless-limited.ts";
import type { ProcessRegistry } from "../../processes/process-registry.ts";
import type { Sandbox } from "../../processes/sandbox.ts";
import { createFoundLines } from "../common/found-lines.ts";
import {
  findFiles,
  findLines,
  pathOfResult,
  type SearchPlace,
  searchRootOf,
} from "../common/list-search.ts";
import { contextOf, lineSearch, type SearchRoot } from "../common/search-request.ts";
import type { Reach } from "./reach.ts";
import { listInThread, statPath } from "./read-files.ts";
import { searchWithRipgrep } from "./ripgrep.ts";
import { createUnorderedLines } from "./unordered-lines.ts";

export interface LocalSearch {
  readonly reach: Reach;
  readonly processes: ProcessRegistry;
  readonly sandbox?: Sandbox | undefined;
  /** ripgrep's executable, if there is one. */
  readonly ripgrep: () => Promise<string | undefined>;
}

export async function searchLocally(
  request: WorkspaceSearchRequest,
  search: LocalSearch,
): Promise<WorkspaceSearchResult> {
  const { reach } = search;
  const root = searchRootOf(statPath(request.path, {}, reach)?.kind, request);
  // Files inside a searched folder are left out if closed; a file that is named directly is refused.
  if (!root.isDirectory) reach.checkPath(root.path);
  const place = localPlace(root, reach);
  if (request.kind === "find") return findFiles(place, request);
  const ripgrep = await search.ripgrep();
  const found = ripgrep && (await withRipgrep(ripgrep, request, { ...search, root, place }));
  return found || findLines(place, request, root);
}

/** Undefined if ripgrep cannot be started. */
async function withRipgrep(
  executable: string,
  request: WorkspaceSearchRequest,
  search: LocalSearch & { readonly root: SearchRoot; readonly place: SearchPlace },
): Promise<WorkspaceSearchResult | undefined> {
  const { root, place } = search;
  const lines = createUnorderedLines(request.limit);
  const prefix = root.path.endsWith(sep) ? root.path : root.path + sep;
  // Lines arrive file by file, so keeping the last verdict is enough.
  let last: { readonly path: string; readonly mayShow: boolean } | undefined;
  const mayShow = (path: string) => {
    if (last?.path !== path) {
      const file = root.isDirectory ? prefix + path : root.path;
      last = { path, mayShow: place.mayShow?.(file) ?? true };
    }
    return last.mayShow;
  };
  const byRipgrep = lineSearch(request, root, (line) => !mayShow(line.path) || lines.add(line));
  if (!(await searchWithRipgrep(executable, byRipgrep, search))) return undefined;
  const found = createFoundLines(request.limit, contextOf(request), pathOfResult(place, root));
  for (const line of lines.sorted()) if (!found.add(line)) break;
  const { matches, truncated } = found.result();
  return { matches, truncated: truncated || lines.isFull };
}

function localPlace(root: SearchRoot, reach: Reach): SearchPlace {
  // Searches do not follow links, so only the root can be a link.
  const real = realpathSync.native(root.path);
  const realOf = (path: string) => real + path.slice(root.path.length);
  return {
    separator: sep,
    mayShow: (path) => reach.mayShow(realOf(path)),
    list: (folder) => listInThread(folder).catch(unlessLimited([])),
    text: async (file, maxBytes) => (await bytesOf(file, maxBytes))?.toString() ?? "",
    bytes: bytesOf,
  };
}

async function bytesOf(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const file = await openRegularFile(path).catch(unlessLimited(undefined));
  try {
    if (file === undefined || (await file.stat()).size > maxBytes) return undefined;
    return await file.readFile();
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
