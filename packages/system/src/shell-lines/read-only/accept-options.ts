import type { ShellWord } from "../line/shell-word.ts";

export type Accept = (words: readonly ShellWord[]) => boolean;

export interface ForbiddenOptions {
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

export function operandsOf(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.filter(({ text }) => !text.startsWith("-") || text === "-");
}
