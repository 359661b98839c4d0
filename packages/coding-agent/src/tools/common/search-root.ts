import { stat } from "node:fs/promises";
import { ToolError } from "@tau-agent/agent";
import { errorCode, fileError, type ToolEnvironment } from "@tau-agent/system";
import { resolveExistingPath } from "./paths.ts";

/** Where a search starts. */
export interface SearchRoot {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Resolves the `path` argument of a search. */
export async function searchRoot(
  written: string | undefined,
  environment: ToolEnvironment,
): Promise<SearchRoot> {
  const shown = written || ".";
  const path = resolveExistingPath(shown, environment);
  try {
    const found = await stat(path);
    const isDirectory = found.isDirectory();
    if (isDirectory || found.isFile()) return { path, isDirectory };
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw fileError(error, "search", shown);
    const text = `Path not found: ${shown}. Check it with ls of its parent.`;
    throw new ToolError(text, undefined, { cause: error });
  }
  throw new ToolError(`${shown} is not a regular file. Use bash to read from it.`);
}
