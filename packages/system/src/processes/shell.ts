import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
/** The shell for commands: the configured one, else bash (on Windows Git Bash first), else sh. */
export function findShell(environment: {
  readonly shellPath?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): string {
  if (environment.shellPath !== undefined && environment.shellPath !== "") {
    return environment.shellPath;
  }
  const variables = environment.environment;
  const isWindows = process.platform === "win32";
  const usual = isWindows
    ? [variables.ProgramFiles, variables["ProgramFiles(x86)"]]
        .filter((folder) => folder !== undefined)
        .map((folder) => join(folder, "Git", "bin", "bash.exe"))
    : ["/bin/bash"];
  const names = isWindows ? ["bash.exe", "sh.exe"] : ["bash", "sh"];
  const folders = (variables.PATH ?? variables.Path ?? "").split(delimiter).filter(isAbsolute);
  for (const name of names) usual.push(...folders.map((folder) => join(folder, name)));
  for (const file of usual) if (isExecutable(file)) return file;
  return isWindows ? "bash.exe" : "/bin/sh";
}

/** Synchronous, because a round trip to a thread takes longer than the check itself (row `bash-command`). */
function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
