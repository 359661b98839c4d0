import type { BorrowedWord, CliOptions } from "./cli-options.ts";
import { hostOptions } from "./host-options.ts";
import { refuseLong } from "./values.ts";

/**
 * Decides about options that the host does not know, now that extensions have declared theirs.
 *
 * @throws {ProtocolError} `invalid_option` for one that nobody knows
 */
export function settleUnknown(
  options: CliOptions,
  declared: ReadonlyMap<string, "boolean" | "string">,
): void {
  // Another host has checked the command line of a subagent's host, whose folder may be another.
  if (!options.areUnknownSettled && options.taskDepth === undefined) {
    for (const name of options.unknown.keys()) {
      if (declared.has(name)) continue;
      refuseLong(name, [...Object.keys(hostOptions), ...declared.keys()], "tau help options");
    }
  }
  returnWords(options, declared);
}

/**
 * Makes prompts again of words that were taken for values of switches. `true` and `false` are values
 * of switches, too.
 */
function returnWords(options: CliOptions, declared: ReadonlyMap<string, string>): void {
  const kept: BorrowedWord[] = [];
  let returned = 0;
  for (const { flag, word, at } of options.borrowed) {
    const place = at + returned;
    if (declared.get(flag) !== "boolean" || word === "true" || word === "false") {
      kept.push({ flag, word, at: place });
      continue;
    }
    options.messages.splice(place, 0, word);
    options.unknown.set(flag, true);
    returned += 1;
  }
  options.borrowed = kept;
}
