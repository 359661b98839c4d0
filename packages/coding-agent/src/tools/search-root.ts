import { stat } from "node:fs/promises";
import { ToolError } from "@tau-agent/agent";
import type { ToolEnvironment } from "./environment.ts";
import { errorCode, fileError } from "./file-error.ts";
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
    return { path, isDirectory: (await stat(path)).isDirectory() };
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw fileError(error, "search", shown);
    const text = `Path not found: ${shown}. Check it with ls of its parent.`;
    throw new ToolError(text, undefined, { cause: error });
  }
}
