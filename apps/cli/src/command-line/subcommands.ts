import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { CliOptions } from "./args.ts";

/** Words that are commands, never prompts. */
const subcommands = [
  "install",
  "remove",
  "uninstall",
  "update",
  "list",
  "config",
  "auth",
  "mcp",
  "acp",
  "models",
  "rewind",
  "record",
  "completion",
  "conformance",
  "help",
] as const;

/** A word with at most so many edits to a command is a typing error. */
const MAX_DISTANCE = 2;

/**
 * Refuses a command line whose first word is a command that does not exist yet, or nearly one. A
 * program that installs a package must not have its command line sent to a model.
 *
 * @throws {ProtocolError} `invalid_option` naming the word
 */
export function refuseSubcommand(options: CliOptions): void {
  const { firstWord: word, print } = options;
  // The word behind --export is a path; -p says that every word is a prompt.
  if (word === undefined || print === true || options.export !== undefined) return;
  const nearest = nearestSubcommand(word);
  if (nearest === undefined) return;
  throw new ProtocolError("invalid_option", {
    option: word,
    reason: `${reasonFor(word, nearest)}; to send the word as a prompt, add -p`,
  });
}

function reasonFor(word: string, nearest: string): string {
  if (word !== nearest) return `there is no such command, the nearest is ${nearest}`;
  if (word === "help") return "show the help with --help";
  if (["conformance", "acp", "mcp", "rewind"].includes(word))
    return "it must be the first word of the command line";
  return "this command is not available yet";
}

function nearestSubcommand(word: string): string | undefined {
  const rated = subcommands
    .map((name) => ({ name, distance: editDistance(word, name) }))
    // A word of which little would be left is another word.
    .filter(({ name, distance }) => distance <= Math.min(MAX_DISTANCE, name.length - 3))
    .sort((a, b) => a.distance - b.distance);
  return rated[0]?.name;
}

/** How many letters must be changed, added or left out to turn one word into the other. */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MAX_DISTANCE) return MAX_DISTANCE + 1;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
