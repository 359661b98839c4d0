import { hostOptions } from "./host-options.ts";

/** A host's command line without certain options and their values. */
export function withoutOptions(words: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const name = names.find((each) => word === `--${each}` || word.startsWith(`--${each}=`));
    if (name === undefined) kept.push(word);
    else if (hostOptions[name]?.kind !== "switch" && !word.includes("=")) at += 1;
  }
  return kept;
}
