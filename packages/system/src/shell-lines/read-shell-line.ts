import type { ShellLine } from "./line/shell-line.ts";

/**
 * Takes a line of bash apart: its simple commands, those that other commands run (`env`, `xargs`,
 * `find -exec`, `sh -c`), and the files that redirections write. Nothing is run or looked up. A
 * line that is not wholly of a small grammar is not understood, with the reason.
 */
export async function readShellLine(line: string): Promise<ShellLine> {
  // Neither is needed before the first line is judged.
  const { readLine } = await import("./read-line.ts");
  const reading = readLine(line);
  if (reading.reason === undefined) return { understood: true, parts: reading.toParts() };
  const { listCommands } = await import("./list-commands.ts");
  return { understood: false, reason: reading.reason, commands: listCommands(line) };
}
