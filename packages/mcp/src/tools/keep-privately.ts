import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileError, randomHex } from "@tau-agent/system";
import type { KeepData } from "./result-content.ts";

/** Keeps data in files that only the user can read, with names that nobody can guess. */
export function keepPrivately(directory: string): KeepData {
  return async (data, extension) => {
    const path = join(directory, `tau-mcp-${randomHex(8)}${extension}`);
    try {
      await writeFile(path, data, { mode: 0o600, flag: "wx" });
    } catch (error) {
      throw fileError(error, "write", path);
    }
    return path;
  };
}

/** Notes the files of one result, for who needs them without its text. */
export function noting(keep: KeepData): {
  readonly keep: KeepData;
  readonly details: () => { readonly keptFiles?: readonly string[] };
} {
  const paths: string[] = [];
  return {
    keep: async (...data) => {
      const path = await keep(...data);
      paths.push(path);
      return path;
    },
    details: () => (paths.length === 0 ? {} : { keptFiles: paths }),
  };
}
