import type { ShellLine } from "./line/shell-line.ts";

/**
 * Takes a line of bash apart: its simple commands, those that other commands run (`env`, `xargs`,
 * `find -exec`, `sh -c`), and the files that redirections write. Nothing is run or looked up. A
 * line in which a command could hide is not understood, with the reason.
 */
export async function readShellLine(line: string): Promise<ShellLine> {
  // The parser is not needed before the first line is judged.
  const { readLine } = await import("./read-line.ts");
  return readLine(line).toShellLine();
}
