import type { ShellWord } from "../line/shell-word.ts";

export type Accept = (words: readonly ShellWord[]) => boolean;

export interface ForbiddenOptions {
  readonly short?: string;
  /** Names of long options; possible abbreviations of them are refused, too. */
  readonly long?: readonly string[];
}

/** Accepts all words except some options; also refuses a word that may expand to an option. */
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
