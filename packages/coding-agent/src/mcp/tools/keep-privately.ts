import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileError } from "../../base/files/file-error.ts";
import { randomHex } from "../../base/random.ts";
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
