import { plain, plainQuotes } from "./loose-text.ts";

interface Difference {
  readonly words: string;
  readonly without: (line: string) => string;
}

/** The ways in which a loose match may differ, in the order in which they are removed. */
const differences: readonly Difference[] = [
  { words: "curly quotes", without: plainQuotes },
  {
    words: "dashes, spaces or other special characters",
    // Curly quotes are compared above, so they must be kept here.
    without: (line) => line.replace(/[^\u2018-\u201F\u2032\u2033]+/g, plain),
  },
  { words: "blanks at line ends", without: (line) => line.trimEnd() },
  { words: "indentation (tabs or spaces)", without: (line) => line.replace(/^[ \t]+/, "") },
  { words: "blanks between words", without: (line) => line.replace(/(\S)[ \t]+/g, "$1 ") },
  { words: "the kind of quotes", without: (line) => line.replace(/["`]/g, "'") },
];

/** Describes how a text differs from the place in the file where it was found. */
export function describeDifferences(oldText: string, region: string): string {
  const given = oldText.split("\n");
  const actual = region.split("\n");
  const without = (lines: readonly string[], left: Difference | undefined): string =>
    lines
      .map((line) =>
        differences.reduce((text, each) => (each === left ? text : each.without(text)), line),
      )
      .join("\n");
  const relevant = differences.filter(
    (difference) => without(given, difference) !== without(actual, difference),
  );
  const words = relevant.map((difference) => difference.words);
  return words.length === 0 ? "special characters" : joined(words);
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
