import type { ToolCallContext } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { type ToolEnvironment, withoutTrailing } from "@tau-agent/system";
import { listResult } from "../common/list-text.ts";
import { absolutePath, toPosix } from "../common/paths.ts";
import { countArgument } from "../common/schema.ts";
import { relativeTo, searchPlaces } from "../common/search-places.ts";

const defaultLimit = 1000;

interface FindArguments {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

export async function runFindTool(
  args: FindArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const limit = countArgument(args.limit) ?? defaultLimit;
  const pattern = relativePattern(args, environment);
  const { matches, truncated, root } = await searchPlaces(
    { kind: "find", ...{ pattern, limit, signal: call.signal } },
    {
      written: args.path,
      mayShow: (path) => environment.sandbox?.mayRead(path) !== false,
    },
    environment,
  );
  const lines = matches.map(({ path }) => relativeTo(root, path, environment));
  if (lines.length === 0) {
    return { content: [{ type: "text", text: "No files found matching pattern" }] };
  }
  if (!truncated || lines.length < limit) return listResult({ lines, notices: [] });
  const more = `Use limit=${limit * 2} for more, or a narrower pattern`;
  return listResult({
    lines,
    notices: [`${limit} results limit reached. ${more}`],
    details: { resultLimitReached: limit },
  });
}

/** A pattern that includes the searched folder, relative to that folder. */
function relativePattern({ pattern, path }: FindArguments, environment: ToolEnvironment): string {
  const plain = toPosix(pattern, environment);
  const root = toPosix(absolutePath(path || ".", environment), environment);
  const prefix = `${withoutTrailing(root, "/")}/`;
  return plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}
