import { join } from "node:path";
import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { globFilter, type ToolEnvironment, withoutTrailing } from "@tau-agent/system";
import { listResult } from "../common/list-text.ts";
import { toPosix } from "../common/paths.ts";
import { countArgument } from "../common/schema.ts";
import { searchRoot } from "../common/search-root.ts";
import { walk } from "../common/walk.ts";

const defaultLimit = 1000;

/** The arguments of the tool, as its row in definition.ts describes them. */
interface FindArguments {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

/** Finds files and directories by glob. */
export async function runFindTool(
  args: FindArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const limit = countArgument(args.limit) ?? defaultLimit;
  const root = await searchRoot(args.path, environment);
  if (!root.isDirectory) throw new ToolError(`Not a directory: ${args.path}. Use read for a file.`);
  const onlyDirectories = args.pattern.endsWith("/");
  const filter = globFilter(relativePattern(args.pattern, root.path));
  const isClosed = environment.closedBelow?.("find", root.path);
  const lines: string[] = [];
  const options = { signal: call.signal, canEnter: filter.canMatchBelow };
  for await (const entries of walk(root.path, options)) {
    for (const { path, isDirectory } of entries) {
      if ((onlyDirectories && !isDirectory) || !filter.matches(path)) continue;
      const whole = join(root.path, path);
      if (environment.sandbox?.mayRead(whole) === false || isClosed?.(whole)) continue;
      if (lines.length <= limit) lines.push(isDirectory ? `${path}/` : path);
    }
    if (lines.length > limit) break;
  }
  if (lines.length === 0) {
    return { content: [{ type: "text", text: "No files found matching pattern" }] };
  }
  if (lines.length <= limit) return listResult({ lines, notices: [] });
  const more = `Use limit=${limit * 2} for more, or a narrower pattern`;
  return listResult({
    lines: lines.slice(0, limit),
    notices: [`${limit} results limit reached. ${more}`],
    details: { resultLimitReached: limit },
  });
}

function relativePattern(pattern: string, root: string): string {
  const plain = withoutTrailing(toPosix(pattern), "/");
  const prefix = `${toPosix(root)}/`;
  return plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}
