import type { BorrowedWord, CliOptions } from "./cli-options.ts";
import { hostOptions } from "./host-options.ts";
import { refuseLong } from "./values.ts";

/**
 * Resolves options that the host does not know, once extensions have declared theirs.
 *
 * @throws {ProtocolError} `invalid_option` for an option that nothing declares
 */
export function settleUnknown(
  options: CliOptions,
  declared: ReadonlyMap<string, "boolean" | "string">,
): void {
  // The parent host has checked the command line of a subagent's host, which may run in another folder.
  if (!options.areUnknownSettled && options.taskDepth === undefined) {
    for (const name of options.unknown.keys()) {
      if (declared.has(name)) continue;
      refuseLong(name, [...Object.keys(hostOptions), ...declared.keys()], "tau help options");
    }
  }
  returnWords(options, declared);
}

/**
 * Turns words that were read as values of switches back into prompts. Switches still accept the values `true`
 * and `false`.
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
