import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { attempt } from "../../base/attempt.ts";

/** The path of `rg` from the PATH. */
export function ripgrepOnPath(
  variables: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  const folders = (variables.PATH ?? variables.Path ?? "").split(delimiter).filter(isAbsolute);
  const isThere = (file: string) =>
    attempt(() => {
      accessSync(file, constants.X_OK);
      return true;
    }) === true;
  return folders.map((folder) => join(folder, name)).find(isThere);
}
