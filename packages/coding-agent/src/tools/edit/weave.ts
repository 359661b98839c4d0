import { diffLines } from "@tau-agent/system";
import { type IndentMap, indentOf } from "./indentation.ts";
import { type Looseness, loosen } from "./loose-text.ts";

/** The change of a region in a file that a model requests. */
export interface RegionChange {
  /** The region as the model wrote it, with LF line endings. */
  readonly oldText: string;
  readonly newText: string;
  /** The line ending for new lines without a neighbour. */
  readonly lineEnd: string;
  /** How `oldText` differs from the region, if it does. */
  readonly looseness?: Looseness | undefined;
  /** The indentation of lines in both texts. */
  readonly indents: IndentMap | undefined;
}

/**
 * The text that replaces `region` in a file. Lines that the model did not change keep every byte. Changed lines keep
 * their line ending and everything that the model did not change in them. New lines get the line ending and indentation
 * of their neighbours.
 */
export async function weaveRegion(region: string, change: RegionChange): Promise<string> {
  const oldPieces = piecesOf(region);
  const oldLines = change.oldText.split("\n");
  const changes = await diffLines(oldLines, change.newText.split("\n"));
  const output: Piece[] = [];
  let oldIndex = 0;
  let replaceable: { readonly piece: Piece; readonly oldLine: string }[] = [];
  for (const { kind, lines } of changes) {
    const pieces = oldPieces.slice(oldIndex, oldIndex + lines.length);
    if (kind === "same") for (const piece of pieces) output.push(piece);
    if (kind === "removed") {
      const from = oldIndex;
      replaceable = pieces.map((piece, index) => ({
        piece,
        oldLine: oldLines[from + index] ?? "",
      }));
    }
    if (kind === "added") {
      for (const [index, line] of lines.entries()) {
        const isFirst = output.length === 0;
        const replaced = replaceable[index];
        const text = newLine(line, replaced && { ...replaced, isFirst }, change);
        output.push({ text, lineEnd: replaced?.piece.lineEnd ?? "" });
      }
    }
    if (kind !== "removed") replaceable = [];
    if (kind !== "added") oldIndex += lines.length;
  }
  return joinPieces(output, change.lineEnd);
}

/** Trailing spaces are kept, too, unless the model's text has its own. */
function blanksAtEnd(fileLine: string, newText: string): string {
  return newText === newText.trimEnd() ? fileLine.slice(fileLine.trimEnd().length) : "";
}

interface ReplacedLine {
  readonly piece: Piece;
  readonly oldLine: string;
  /** Whether the region may begin after the indentation of this line. */
  readonly isFirst: boolean;
}

function newLine(line: string, replaced: ReplacedLine | undefined, change: RegionChange): string {
  const { looseness, indents } = change;
  if (looseness === undefined) return line;
  const indent = indentOf(line);
  const rest = line.slice(indent.length);
  if (replaced === undefined) return (rest && (indents?.translate(indent) ?? indent)) + rest;
  const oldIndent = indentOf(replaced.oldLine);
  const fileIndent = indentOf(replaced.piece.text);
  const woven = weaveLine(
    replaced.piece.text.slice(fileIndent.length),
    { oldText: replaced.oldLine.slice(oldIndent.length), newText: rest },
    looseness,
  );
  if (indent === oldIndent) return fileIndent + woven;
  const isPartial = replaced.isFirst && oldIndent === "";
  return (isPartial ? indent : (indents?.translate(indent) ?? indent)) + woven;
}

/** A changed line: its common beginning and end in both texts stay as in the file. */
function weaveLine(
  fileLine: string,
  { oldText, newText }: { readonly oldText: string; readonly newText: string },
  looseness: Looseness,
): string {
  const given = loosen(oldText, looseness);
  const actual = loosen(fileLine, looseness);
  if (given.text !== actual.text) return newText;
  const shorter = Math.min(oldText.length, newText.length);
  let same = 0;
  while (same < shorter && oldText[same] === newText[same]) same++;
  let first = 0;
  while (first < given.ends.length && (given.ends[first] ?? 0) <= same) first++;
  const startOfOld = first === 0 ? 0 : (given.ends[first - 1] ?? 0);
  const startOfFile = first === 0 ? 0 : (actual.ends[first - 1] ?? 0);

  let tail = 0;
  while (tail < shorter - startOfOld && oldText.at(-1 - tail) === newText.at(-1 - tail)) tail++;
  let last = given.starts.length;
  while (last > first && (given.starts[last - 1] ?? 0) >= oldText.length - tail) last--;
  const hasEnd = last < given.starts.length;
  const endLength = hasEnd ? oldText.length - (given.starts[last] ?? 0) : 0;
  const fileEnd = hasEnd ? fileLine.slice(actual.starts[last]) : blanksAtEnd(fileLine, newText);
  return (
    fileLine.slice(0, startOfFile) + newText.slice(startOfOld, newText.length - endLength) + fileEnd
  );
}

interface Piece {
  readonly text: string;
  /** Empty for the last piece of a region. */
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
