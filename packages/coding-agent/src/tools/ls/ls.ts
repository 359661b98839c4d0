import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isWorkspaceError, type WorkspaceEntry } from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import { fileProblem, reachOf } from "../common/file-problem.ts";
import { listResult } from "../common/list-text.ts";
import { openExisting, pathsOf } from "../common/paths.ts";
import { countArgument } from "../common/schema.ts";

const defaultLimit = 500;

interface LsArguments {
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

export async function runLsTool(
  args: LsArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const shown = args.path || ".";
  const limit = countArgument(args.limit) ?? defaultLimit;
  const { directory, entries: all } = await entriesOf(shown, environment, call.signal);
  const { join } = pathsOf(environment);
  const isClosed = await environment.closedBelow?.("ls", directory);
  const entries = all.filter(({ name }) => {
    const path = join(directory, name);
    return environment.sandbox?.mayRead(path) !== false && isClosed?.(path) !== true;
  });
  call.signal.throwIfAborted();
  if (entries.length === 0) return { content: [{ type: "text", text: "(empty directory)" }] };
  entries.sort((left, right) => compareNames(left.name, right.name));
  const isDirectory = async ({ name, kind }: WorkspaceEntry) => {
    if (kind !== "symlink") return kind === "directory";
    // A dangling link is listed by its own name.
    const target = await environment.workspace.stat(join(directory, name)).catch(() => undefined);
    return target?.kind === "directory";
  };
  const lines = await Promise.all(
    entries.slice(0, limit).map(async (entry) => {
      return (await isDirectory(entry)) ? `${entry.name}/` : entry.name;
    }),
  );
  if (entries.length <= limit) return listResult({ lines, notices: [] });
  return listResult({
    lines,
    notices: [`${limit} entries limit reached. Use limit=${limit * 2} for more`],
    details: { entryLimitReached: limit },
  });
}

async function entriesOf(
  shown: string,
  environment: ToolEnvironment,
  signal: AbortSignal,
): Promise<{ readonly directory: string; readonly entries: readonly WorkspaceEntry[] }> {
  const options = { within: reachOf("read", { sandbox: environment.sandbox }), signal };
  try {
    return await openExisting(shown, environment, async (directory) => ({
      directory,
      entries: await environment.workspace.list(directory, options),
    }));
  } catch (error) {
    const text = isWorkspaceError(error, "not_found")
      ? `Path not found: ${shown}. Check it with ls of its parent.`
      : isWorkspaceError(error, "not_a_directory")
        ? `Not a directory: ${shown}. Use read for a file.`
        : undefined;
    if (text !== undefined) throw new ToolError(text, undefined, { cause: error });
    throw await fileProblem(error, { action: "list", shown }, environment);
  }
}

/** Ignores case; names that differ only in case have a fixed order. */
function compareNames(left: string, right: string): number {
  const [lower, other] = [left.toLowerCase(), right.toLowerCase()];
  if (lower !== other) return lower < other ? -1 : 1;
  return left < right ? -1 : 1;
}
