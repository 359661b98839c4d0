import { patterns } from "./patterns.ts";
import { proseOf } from "./prose-of.ts";

export interface FoundPhrase {
  /** From 1. */
  readonly line: number;
  readonly phrase: string;
  readonly instead: string;
}

export function findPhrases(path: string, source: string): FoundPhrase[] {
  const prose = proseOf(path, source);
  const found = patterns.flatMap(({ phrase, instead }) =>
    [...prose.matchAll(new RegExp(phrase, `${phrase.flags}g`))].map((match) => ({
      line: prose.slice(0, match.index).split("\n").length,
      phrase: match[0].replace(/\s+/g, " ").trim(),
      instead,
    })),
  );
  return found.toSorted((first, second) => first.line - second.line);
}
