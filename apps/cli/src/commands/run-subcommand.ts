import { nearest } from "@tau-agent/rpc-protocol/plain";
import type { CliOptions } from "../command-line/cli-options.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { subcommands } from "./index.ts";

export type Outcome =
  /** The words are for the host. */
  | { readonly kind: "none" }
  /** Undefined if the subcommand serves a client and ends the process itself. */
  | { readonly kind: "run"; readonly exitCode: number | undefined };

/**
 * Runs the subcommand that the first word names.
 *
 * @throws {ProtocolError} `invalid_option` if the first word nearly names a subcommand: a misspelt `install`
 * must not be sent to a model as a prompt
 */
export async function runSubcommand(
  words: readonly string[],
  context: Omit<CommandContext, "commands">,
): Promise<Outcome> {
  const [first = "", ...rest] = words;
  if (first.startsWith("-")) return { kind: "none" };
  const command = subcommands.find(({ name }) => name === first);
  if (command !== undefined) {
    return {
      kind: "run",
      exitCode: await command.run(rest, { ...context, commands: subcommands }),
    };
  }
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  if (!own.includes("-p") && !own.includes("--print")) {
    refuseNearCommand(first);
    if (words.length === 1 && /^[a-z][\w-]*$/i.test(first)) {
      refuse(first, `there is no such command; tau help lists them; ${promptHint}`);
    }
  }
  return { kind: "none" };
}

/**
 * Refuses a command line of the host whose first word, after options, is a subcommand or nearly one.
 *
 * @throws {ProtocolError} `invalid_option` naming the word
 */
export function refuseLateSubcommand({ firstWord, print, export: page }: CliOptions): void {
  // The word after --export is a path; with -p, every word is a prompt.
  if (firstWord === undefined || print === true || page !== undefined) return;
  if (subcommands.some(({ name }) => name === firstWord)) {
    const reason = "as a command, it must be the first word; to send it as a prompt, add -p";
    refuse(firstWord, reason);
  }
  refuseNearCommand(firstWord);
}

const promptHint = "to send the word as a prompt, add -p";

/** Refuses a word that is nearly a command, or that is (or nearly is) an action of one. */
function refuseNearCommand(word: string): void {
  const meant = subcommands.flatMap(({ name, actions = {} }) => [
    [name, name] as const,
    ...Object.keys(actions).map((action) => [action, `${name} ${action}`] as const),
  ]);
  const near = nearest(
    word,
    meant.map(([typed]) => typed),
  );
  const found = meant.find(([typed]) => typed === near)?.[1];
  if (found === undefined) return;
  refuse(word, `there is no such command, the nearest is ${found}; ${promptHint}`);
}
