/** A text with normalised typography, and the source position of each character. */
export interface FuzzyText {
  readonly text: string;
  /** Per character: start of its source. */
  readonly starts: readonly number[];
  /** Per character: end of its source. */
  readonly ends: readonly number[];
}

const singleQuotes = /[\u2018-\u201B\u2032]/g;
const doubleQuotes = /[\u201C-\u201F\u2033]/g;
const dashes = /[\u2010-\u2015\u2212]/g;
const spaces = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const onlyAscii = /^[\x00-\x7f]*$/;
/** A character with its combining marks: what Unicode normalization may turn into one character. */
const clusters = /\P{M}\p{M}*|\p{M}+/gsu;

/**
 * Normalises what models get wrong when they copy: trailing blanks, curly quotes, dashes, odd
 * spaces, compatibility forms. Line breaks (LF) stay one to one.
 */
export function fuzzyText(source: string): FuzzyText {
  const pieces: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (piece: string, start: number, end: number) => {
    pieces.push(piece);
    for (let index = 0; index < piece.length; index++) {
      starts.push(start);
      ends.push(end);
    }
  };
  let lineStart = 0;
  for (const line of source.split("\n")) {
    if (lineStart > 0) add("\n", lineStart - 1, lineStart);
    const kept = line.trimEnd();
    if (onlyAscii.test(kept)) {
      pieces.push(kept);
      for (let index = 0; index < kept.length; index++) {
        starts.push(lineStart + index);
        ends.push(lineStart + index + 1);
      }
    } else {
      for (const { 0: cluster, index } of kept.matchAll(clusters)) {
        add(fold(cluster), lineStart + index, lineStart + index + cluster.length);
      }
    }
    lineStart += line.length + 1;
  }
  return { text: pieces.join(""), starts, ends };
}

function fold(cluster: string): string {
  return foldMarks(foldMarks(cluster).normalize("NFKC"));
}

function foldMarks(text: string): string {
  return text
    .replace(singleQuotes, "'")
    .replace(doubleQuotes, '"')
    .replace(dashes, "-")
    .replace(spaces, " ");
}
