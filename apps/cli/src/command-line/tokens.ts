import { parseArgs } from "node:util";
import type { OptionRow, OptionTable } from "./option-row.ts";

export type Token =
  | {
      readonly kind: "option";
      /** The name without dashes. */
      readonly name: string;
      /** The option as typed, without its value. */
      readonly shown: string;
      /** Undefined if the table has no such option. */
      readonly row: OptionRow | undefined;
      readonly value: string | undefined;
      readonly isInline: boolean;
    }
  | {
      readonly kind: "word";
      readonly word: string;
      /** Whether it comes after `--`. */
      readonly isBehind: boolean;
    };

/** Replaces a word that only looks like an option. */
const PLAIN_WORD = "word";

/** Replaces a short option that is not in the table. */
const UNKNOWN_SHORT = "--unknown-short";

/**
 * Splits a command line into options and words. For an option that is not in the table, the caller has to
 * decide whether the next word is its value.
 */
export function tokensOf(words: readonly string[], table: OptionTable): Token[] {
  // The mapped words keep length and order, so the index of a token is the index of its word.
  const args = words.map((word) => asLongOption(word, table));
  const { tokens } = parseArgs({
    args,
    options: Object.fromEntries(args.flatMap((word) => typeIn(table, word))),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let isBehind = false;
  return tokens.flatMap((token): Token[] => {
    const word = words[token.index] ?? "";
    if (token.kind === "option-terminator") {
      isBehind = true;
      return [];
    }
    if (token.kind === "positional") return [{ kind: "word", word, isBehind }];
    const isInline = token.inlineValue === true;
    const value = isInline || token.value === undefined ? token.value : words[token.index + 1];
    const shown = isInline ? word.slice(0, word.indexOf("=")) : word;
    const row = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    return [{ kind: "option", name: token.name, shown, row, value, isInline }];
  });
}

/** What `parseArgs` needs to know about an option: its name, and whether it has a value. */
function typeIn(table: OptionTable, word: string): [string, { type: "string" | "boolean" }][] {
  const [, name = ""] = /^--([^=]+)/.exec(word) ?? [];
  if (!Object.hasOwn(table, name)) return [];
  const kind = table[name]?.kind;
  return [[name, { type: kind === undefined || kind === "list" ? "string" : "boolean" }]];
}

/** A prompt may begin with dashes (YAML frontmatter, a list), and a value may be a negative number. */
function asLongOption(word: string, table: OptionTable): string {
  if (!/^-./s.test(word) || word === "--") return word;
  if (/^-\.?\d/.test(word)) return PLAIN_WORD;
  if (word.startsWith("--")) return /^--[\w-]+(=|$)/.test(word) ? word : PLAIN_WORD;
  const name = Object.keys(table).find((name) => table[name]?.short === word.slice(1));
  if (name !== undefined) return `--${name}`;
  return /\s/.test(word) ? PLAIN_WORD : UNKNOWN_SHORT;
}
