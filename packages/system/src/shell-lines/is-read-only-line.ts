import { otherShell } from "./shell-family.ts";

/**
 * Whether every command of a line is known to only read, so that the line may run at the same time as other such
 * lines. Only for the order of calls, never for permissions: it ignores what a repository's configuration may make
 * `git diff` run. A line that waits (`sleep`) does not count, because its purpose is to order things.
 */
export async function isReadOnlyLine(line: string, shellPath?: string): Promise<boolean> {
  if (otherShell(shellPath) !== undefined) return false;
  // The parser is only needed once a reply has several calls.
  const { readLine } = await import("./read-line.ts");
  const { onlyReads } = await import("./read-only/only-reads.ts");
  return onlyReads(readLine(line));
}
