import { otherShell } from "./shell-family.ts";

/**
 * Whether every command of a line is known to only read, so that it may run beside others that do.
 * For the order of calls only, never for permissions: what a repository's own configuration makes of
 * `git diff` is not looked at. A line that waits (`sleep`) is not one: it is there to order things.
 */
export async function isReadOnlyLine(line: string, shellPath?: string): Promise<boolean> {
  if (otherShell(shellPath) !== undefined) return false;
  // The parser is not needed before a reply has several calls.
  const { readLine } = await import("./read-line.ts");
  const { onlyReads } = await import("./read-only/only-reads.ts");
  return onlyReads(readLine(line));
}
