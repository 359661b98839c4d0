import { basename } from "node:path";

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

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

/** The mark of one child. */
export function childLimit(host: string, count: number): string {
  return host + String(count % 10 ** countDigits).padStart(countDigits, "0");
}

// The option's letter is another one in dash.
const script = `{ ulimit -S -x "$1" || ulimit -S -w "$1"; } 2>/dev/null; shift; exec "$@"`;
const shells = new Set(["ash", "bash", "dash", "ksh", "sh", "zsh"]);

/**
 * The command with the mark. The shell that is to be run sets the mark and runs itself again:
 * another shell would leave out variables that it has no names for.
 */
export function withLimit(limit: string, [file, ...args]: Command): Command {
  if (!shells.has(basename(file))) return [file, ...args];
  return [file, "-c", script, file, limit, file, ...args];
}
