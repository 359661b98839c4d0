import type { ShellLine } from "./line/shell-line.ts";
import { otherShell } from "./shell-family.ts";

/**
 * Splits a line of bash into its simple commands, those that other commands run (`env`, `xargs`, `find -exec`,
 * `sh -c`), and the files that redirections write. Runs and looks up nothing. A line that is not entirely within a
 * small grammar is reported as not understood, with the reason.
 *
 * @param shellPath the shell that runs the line, if one is configured: lines for fish or zsh are never understood
 */
export async function readShellLine(line: string, shellPath?: string): Promise<ShellLine> {
  // Loaded on demand: neither module is needed before the first line is judged.
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
