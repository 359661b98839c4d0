import { diffLines } from "../common/diff.ts";

/** A text with LF line ends, and the way back to the offsets of the original. */
export class NormalizedText {
  readonly raw: string;
  readonly text: string;
  /** The most frequent line end of the original. */
  readonly lineEnd: string;
  /** Offsets in `text` of the LFs that replace CR LF. */
  readonly #pairs: number[] = [];

  constructor(raw: string) {
    this.raw = raw;
    this.text = toLineFeeds(raw);
    for (let at = raw.indexOf("\r\n"); at !== -1; at = raw.indexOf("\r\n", at + 2)) {
      this.#pairs.push(at - this.#pairs.length);
    }
    this.lineEnd = mostFrequentLineEnd(raw, this.#pairs.length);
  }

  /** The offset in the original of an offset in `text`. */
  rawOffset(offset: number): number {
    let low = 0;
    let high = this.#pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pairs[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  }
}

/** Turns CR LF and CR into LF. */
export function toLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/**
 * The replacement of `region` of a file when a model changes `oldText` (the region as the model
 * sees it, with LF) to `newText`: unchanged lines keep every byte, changed lines keep their line
 * ending, new lines take their neighbour's.
 */
export async function weaveRegion(
  region: string,
  change: { readonly oldText: string; readonly newText: string; readonly lineEnd: string },
): Promise<string> {
  const oldPieces = piecesOf(region);
  const newLines = change.newText.split("\n");
  const changes = await diffLines(change.oldText.split("\n"), newLines);
  const output: Piece[] = [];
  let oldIndex = 0;
  let replaceable: Piece[] = [];
  for (const { kind, lines } of changes) {
    const pieces = oldPieces.slice(oldIndex, oldIndex + lines.length);
    if (kind === "same") for (const piece of pieces) output.push(piece);
    if (kind === "removed") replaceable = pieces;
    if (kind === "added") {
      for (const [index, text] of lines.entries()) {
        output.push({ text, lineEnd: replaceable[index]?.lineEnd ?? "" });
      }
    }
    if (kind !== "removed") replaceable = [];
    if (kind !== "added") oldIndex += lines.length;
  }
  return joinPieces(output, change.lineEnd);
}

interface Piece {
  readonly text: string;
  /** Empty on the last piece of a region. */
  readonly lineEnd: string;
}

function joinPieces(pieces: readonly Piece[], usualLineEnd: string): string {
  let joined = "";
  let previous = pieces.find(({ lineEnd }) => lineEnd !== "")?.lineEnd ?? usualLineEnd;
  for (const [index, { text, lineEnd }] of pieces.entries()) {
    joined += text;
    if (index === pieces.length - 1) break;
    if (lineEnd !== "") previous = lineEnd;
    joined += previous;
  }
  return joined;
}

function piecesOf(region: string): Piece[] {
  const parts = region.split(/(\r\n|\r|\n)/);
  const pieces: Piece[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    pieces.push({ text: parts[index] ?? "", lineEnd: parts[index + 1] ?? "" });
  }
  return pieces;
}

function mostFrequentLineEnd(raw: string, pairs: number): string {
  const lineFeeds = count(raw, "\n") - pairs;
  const returns = count(raw, "\r") - pairs;
  if (pairs > lineFeeds && pairs >= returns) return "\r\n";
  return returns > lineFeeds ? "\r" : "\n";
}

function count(text: string, character: string): number {
  let total = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) total++;
  return total;
}
