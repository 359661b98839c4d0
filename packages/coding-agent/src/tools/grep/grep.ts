import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type {
  WorkspaceAccess,
  WorkspaceMatch,
  WorkspaceSearchRequest,
} from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import { listResult } from "../common/list-text.ts";
import { isProtected, pathsOf } from "../common/paths.ts";
import { countArgument } from "../common/schema.ts";
import { relativeTo, searchPlaces } from "../common/search-places.ts";
import { MatchList } from "./match-list.ts";

const defaultLimit = 100;
const maxContext = 1000;

export interface GrepArguments
  extends Omit<WorkspaceSearchRequest, "kind" | "path" | "limit" | keyof WorkspaceAccess> {
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

export async function runGrepTool(
  args: GrepArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  if (args.pattern === "") throw new ToolError("The pattern is empty. Give a text to search for.");
  const limit = countArgument(args.limit) ?? defaultLimit;
  const { matches, truncated, root } = await searchPlaces(
    {
      kind: "grep",
      pattern: args.pattern,
      glob: args.glob?.trim() || undefined,
      ignoreCase: args.ignoreCase,
      literal: args.literal,
      context: contextOf(args.context),
      ...{ limit, signal: call.signal },
    },
    {
      written: args.path,
      mayShow: (path) => !isProtected(path, environment),
    },
    environment,
  );
  const list = new MatchList(limit);
  const paths = pathsOf(environment);
  const shownPath = ({ path }: WorkspaceMatch) =>
    path === root ? paths.basename(root) : relativeTo(root, path, environment);
  const areAllTaken = matches.every((match) => list.add(shownPath(match), match));
  if (areAllTaken && truncated && matches.length >= limit) list.isLimitReached = true;
  if (list.matchCount === 0) return { content: [{ type: "text", text: "No matches found" }] };
  return resultOf(list, limit);
}

function contextOf(lines: number | undefined): number {
  if (lines === undefined || !(lines > 0)) return 0;
  return Math.min(maxContext, Math.floor(lines));
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
