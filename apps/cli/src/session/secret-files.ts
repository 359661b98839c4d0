import { resolve } from "node:path";
import type { CliOptions } from "../command-line/cli-options.ts";
import type { ProcessEnvironment } from "../process/environment.ts";

/** The files with keys that only the command line names, either this host's or that of its parent host. */
export function secretFilesOf(
  { tokenFile }: Pick<CliOptions, "tokenFile">,
  { cwd, secretFiles = [] }: Pick<ProcessEnvironment, "cwd" | "secretFiles">,
): readonly string[] {
  return tokenFile === undefined ? secretFiles : [...secretFiles, resolve(cwd, tokenFile)];
}
