import type { ShellWord } from "../line/shell-word.ts";

export interface OptionRow {
  /** Short options without a value. */
  readonly flags?: string;
  /** Short options with a value, attached or in the next word. */
  readonly valued?: string;
  /** Short options whose value, if any, is attached. */
  readonly attached?: string;
  readonly long?: readonly string[];
  /** Long options with a value, after `=` or in the next word. */
  readonly longValued?: readonly string[];
}

/**
 * Finds the end of the options.
 *
 * @returns the index of the first operand; undefined when an option is unknown or not literal
 */
export function skipOptions(
  words: readonly ShellWord[],
  start: number,
  row: OptionRow,
): number | undefined {
  let index = start;
  for (let word = words[index]; word !== undefined; word = words[index]) {
    if (word.isOpen) return undefined;
    if (!word.text.startsWith("-") || word.text === "-") return index;
    if (!word.isLiteral) return undefined;
    if (word.text === "--") return index + 1;
    const used = word.text.startsWith("--") ? longOption(word.text, row) : cluster(word.text, row);
    if (used === undefined) return undefined;
    index += used;
  }
  return Math.min(index, words.length);
}

function longOption(text: string, { long = [], longValued = [] }: OptionRow): number | undefined {
  const [name = "", value] = text.slice(2).split("=", 2);
  if (longValued.includes(name)) return value === undefined ? 2 : 1;
  return long.includes(name) ? 1 : undefined;
}

function cluster(text: string, row: OptionRow): number | undefined {
  const { flags = "", valued = "", attached = "" } = row;
  for (let index = 1; index < text.length; index++) {
    const letter = text.charAt(index);
    if (attached.includes(letter)) return 1;
    if (valued.includes(letter)) return index === text.length - 1 ? 2 : 1;
    if (!flags.includes(letter)) return undefined;
  }
  return 1;
}
