import type { ShellWord } from "../line/shell-word.ts";

/** Judges the words after the name of a command. */
export type Accept = (words: readonly ShellWord[]) => boolean;

/** The options with which a command does more than read. */
export interface ForbiddenOptions {
  /** Letters of short options. */
  readonly short?: string;
  /** Names of long options; what may be an abbreviation of one is refused, too. */
  readonly long?: readonly string[];
}

/** Accepts all words but some options; a word that may become an option is not accepted. */
export function without({ short = "", long = [] }: ForbiddenOptions): Accept {
  return (words) =>
    words.every(({ text, isOpen }) => {
      if (isOpen) return false;
      if (!text.startsWith("-") || text === "-" || text === "--") return true;
      if (!text.startsWith("--"))
        return ![...text.slice(1)].some((letter) => short.includes(letter));
      const [name = ""] = text.slice(2).split("=", 1);
      return !long.some((forbidden) => forbidden.startsWith(name));
    });
}

/** The words other than options. */
export function operandsOf(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.filter(({ text }) => !text.startsWith("-") || text === "-");
}
