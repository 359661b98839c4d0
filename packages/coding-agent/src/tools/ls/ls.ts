import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { errorCode, fileError, type ToolEnvironment } from "@tau-agent/system";
import { listResult } from "../common/list-text.ts";
import { resolveExistingPath } from "../common/paths.ts";
import { countArgument } from "../common/schema.ts";

const defaultLimit = 500;

/** The arguments of the tool, as its row in definition.ts describes them. */
interface LsArguments {
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

/** Lists a directory. */
export async function runLsTool(
  args: LsArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const shown = args.path || ".";
  const limit = countArgument(args.limit) ?? defaultLimit;
  const directory = resolveExistingPath(shown, environment);
  const isClosed = environment.closedBelow?.("ls", directory);
  const entries = (await entriesOf(directory, shown)).filter(({ name }) => {
    const path = join(directory, name);
    return environment.sandbox?.mayRead(path) !== false && isClosed?.(path) !== true;
  });
  call.signal.throwIfAborted();
  if (entries.length === 0) return { content: [{ type: "text", text: "(empty directory)" }] };
  entries.sort((left, right) => compareNames(left.name, right.name));
  const lines = await Promise.all(
    entries.slice(0, limit).map(async (entry) => {
      return (await isDirectory(directory, entry)) ? `${entry.name}/` : entry.name;
    }),
  );
  if (entries.length <= limit) return listResult({ lines, notices: [] });
  return listResult({
    lines,
    notices: [`${limit} entries limit reached. Use limit=${limit * 2} for more`],
    details: { entryLimitReached: limit },
  });
}

async function entriesOf(directory: string, shown: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const code = errorCode(error);
    const text =
      code === "ENOENT"
        ? `Path not found: ${shown}. Check it with ls of its parent.`
        : code === "ENOTDIR"
          ? `Not a directory: ${shown}. Use read for a file.`
          : undefined;
    if (text === undefined) throw fileError(error, "list", shown);
    throw new ToolError(text, undefined, { cause: error });
  }
}

/** Ignores case; names that differ only in case have a fixed order. */
function compareNames(left: string, right: string): number {
  const [lower, other] = [left.toLowerCase(), right.toLowerCase()];
  if (lower !== other) return lower < other ? -1 : 1;
  return left < right ? -1 : 1;
}

async function isDirectory(directory: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  // A dangling link is listed by its own name.
  const target = await stat(join(directory, entry.name)).catch(() => undefined);
  return target?.isDirectory() ?? false;
}
