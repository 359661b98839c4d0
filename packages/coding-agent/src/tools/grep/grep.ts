import { join } from "node:path";
import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { type GlobFilter, globFilter, type ToolEnvironment } from "@tau-agent/system";
import { listResult } from "../common/list-text.ts";
import { isProtected } from "../common/paths.ts";
import { countArgument } from "../common/schema.ts";
import { searchRoot } from "../common/search-root.ts";
import { MatchList } from "./match-list.ts";
import { plainSearch } from "./plain-search.ts";
import { findRipgrep, searchWithRipgrep } from "./ripgrep.ts";
import type { Search } from "./search.ts";

const defaultLimit = 100;
const maxContext = 1000;

/** The arguments of the tool, as its row in definition.ts describes them. */
export interface GrepArguments {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  readonly literal?: boolean | undefined;
  readonly context?: number | undefined;
  readonly limit?: number | undefined;
}

/** Searches file contents. */
export async function runGrepTool(
  args: GrepArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  if (args.pattern === "") throw new ToolError("The pattern is empty. Give a text to search for.");
  const limit = countArgument(args.limit) ?? defaultLimit;
  const context = contextOf(args.context);
  const glob = args.glob?.trim() || undefined;
  const list = new MatchList(limit, context);
  const root = await searchRoot(args.path, environment);
  const isClosed = root.isDirectory ? environment.closedBelow?.("grep", root.path) : undefined;
  const mayShow = (path: string) => !isProtected(path, environment) && isClosed?.(path) !== true;
  const search: Search = {
    pattern: args.pattern,
    isLiteral: args.literal === true,
    ignoresCase: args.ignoreCase === true,
    context,
    root,
    glob,
    filter: glob === undefined ? undefined : filterOf(glob),
    signal: call.signal,
    limit,
    onLine: (line) => !mayShow(join(root.path, line.path)) || list.add(line),
  };
  call.signal.throwIfAborted();
  const ripgrep = await findRipgrep(environment);
  if (ripgrep === undefined || !(await searchWithRipgrep(ripgrep, search, environment))) {
    await plainSearch(search);
  }
  if (list.matchCount === 0) return { content: [{ type: "text", text: "No matches found" }] };
  return resultOf(list, limit);
}

function contextOf(lines: number | undefined): number {
  if (lines === undefined || !(lines > 0)) return 0;
  return Math.min(maxContext, Math.floor(lines));
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

function resultOf(list: MatchList, limit: number): ToolResult {
  const notices: string[] = [];
  if (list.isLimitReached) {
    const more = `Use limit=${limit * 2} for more, or a narrower pattern`;
    notices.push(`${limit} matches limit reached. ${more}`);
  }
  if (list.hasCutLines) {
    notices.push("Some lines truncated to 500 chars. Use read to see them whole");
  }
  const details = {
    ...(list.isLimitReached && { matchLimitReached: limit }),
    ...(list.hasCutLines && { linesTruncated: true }),
  };
  return listResult({ lines: list.lines(), notices, details });
}
