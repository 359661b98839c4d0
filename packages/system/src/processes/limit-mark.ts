import { basename } from "node:path";

/**
 * A second mark, for descendants that empty their environment (`env -i`): a value of the limit on file locks. Linux
 * passes it on to every descendant, shows it in /proc, and has not enforced it since 2.4.25. Only this mark sets it.
 */
export const limitName = "Max file locks            ";

/** The number of digits that identify the children of a host. */
const countDigits = 6;
const firstHost = 100_000_000_000n;
const hosts = 900_000_000_000n;

/** The part of the mark that all children of a host share, from the host's random id in hex. */
export function hostLimit(id: string): string {
  return String(firstHost + (BigInt(`0x${id}`) % hosts));
}

export function childLimit(host: string, count: number): string {
  return host + String(count % 10 ** countDigits).padStart(countDigits, "0");
}

const shells = new Set(["ash", "bash", "dash", "sh", "zsh"]);

/**
 * The arguments of a shell that runs a command (`-c`) after setting the mark. On the same line, so that line numbers
 * in messages stay right. A separate program would not need this text, but takes as long to start as the shell itself.
 */
export function withLimit(limit: string, file: string, args: readonly string[]): readonly string[] {
  const [option, command, ...rest] = args;
  if (option !== "-c" || command === undefined || !shells.has(basename(file))) return args;
  // dash uses another letter for this option.
  const mark = `{ ulimit -S -x ${limit} || ulimit -S -w ${limit}; } 2>/dev/null; `;
  return [option, mark + command, ...rest];
}
