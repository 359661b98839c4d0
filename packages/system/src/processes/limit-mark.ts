import { basename } from "node:path";

/**
 * A second mark for descendants, for those that empty their environment (`env -i`): a value of the
 * limit on file locks, which Linux passes on to every descendant, shows in /proc, and has not enforced
 * since 2.4.25. Nothing but this mark sets it.
 */
export const limitName = "Max file locks            ";

/** How many digits tell the children of a host apart. */
const countDigits = 6;
const firstHost = 100_000_000_000n;
const hosts = 900_000_000_000n;

/** The part of the mark that all children of a host share, by the host's random id in hex. */
export function hostLimit(id: string): string {
  return String(firstHost + (BigInt(`0x${id}`) % hosts));
}

export function childLimit(host: string, count: number): string {
  return host + String(count % 10 ** countDigits).padStart(countDigits, "0");
}

const shells = new Set(["ash", "bash", "dash", "sh", "zsh"]);

/**
 * The arguments of a shell that runs a command (`-c`), with the mark set first. On the same line, so
 * that the numbers of lines in messages stay right. Another program in between would do without this
 * text, but takes as long to start as the shell itself.
 */
export function withLimit(limit: string, file: string, args: readonly string[]): readonly string[] {
  const [option, command, ...rest] = args;
  if (option !== "-c" || command === undefined || !shells.has(basename(file))) return args;
  // The option's letter is another one in dash.
  const mark = `{ ulimit -S -x ${limit} || ulimit -S -w ${limit}; } 2>/dev/null; `;
  return [option, mark + command, ...rest];
}
