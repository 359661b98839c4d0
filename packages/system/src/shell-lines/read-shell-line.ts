import type { ShellLine } from "./line/shell-line.ts";
import { otherShell } from "./shell-family.ts";

/**
 * Takes a line of bash apart: its simple commands, those that other commands run (`env`, `xargs`,
 * `find -exec`, `sh -c`), and the files that redirections write. Nothing is run or looked up. A
 * line that is not wholly of a small grammar is not understood, with the reason.
 *
 * @param shellPath the shell that runs the line, if one is configured: no line for fish or zsh is understood
 */
export async function readShellLine(line: string, shellPath?: string): Promise<ShellLine> {
  // Neither is needed before the first line is judged.
  const { readLine } = await import("./read-line.ts");
  const reading = readLine(line);
  const other = otherShell(shellPath);
  const reason =
    other === undefined
      ? reading.reason
      : `only lines of bash are understood, and ${other} runs it`;
  if (reason === undefined) return { understood: true, parts: reading.toParts() };
  const { listCommands } = await import("./list-commands.ts");
  return { understood: false, reason, commands: listCommands(line) };
}
