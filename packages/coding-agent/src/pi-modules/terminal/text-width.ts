import { stripVTControlCharacters } from "node:util";

const escapeCharacter = String.fromCharCode(27);
const styles = new RegExp(`(${escapeCharacter}\\[[0-9;?]*[ -/]*[@-~])`);
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/u;
const segmenter = new Intl.Segmenter();

function widthOf(segment: string): number {
  if (/^[\p{Mn}\p{Me}\p{Cc}]+$/u.test(segment)) return 0;
  return wide.test(segment) ? 2 : 1;
}

/** The width of a text in terminal columns; escape sequences take none. */
export function visibleWidth(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(
    stripVTControlCharacters(text).replaceAll("\t", "   "),
  )) {
    width += widthOf(segment);
  }
  return width;
}

/** The start of a text that fits `maxWidth` columns, with an ellipsis if something is cut. */
export function truncateToWidth(
  text: string,
  maxWidth: number,
  ellipsis = "...",
  pad = false,
): string {
  const width = visibleWidth(text);
  if (width <= maxWidth) return pad ? text + " ".repeat(maxWidth - width) : text;
  const room = Math.max(0, maxWidth - visibleWidth(ellipsis));
  let kept = "";
  let used = 0;
  for (const piece of text.split(styles)) {
    if (piece.startsWith(escapeCharacter)) {
      kept += piece;
      continue;
    }
    for (const { segment } of segmenter.segment(piece)) {
      const columns = widthOf(segment);
      if (used + columns > room) return kept + ellipsis;
      used += columns;
      kept += segment;
    }
  }
  return kept + ellipsis;
}

/** The text in `length` columns of a line from column `start` on, including escape sequences. */
export function sliceByColumn(line: string, start: number, length: number): string {
  let at = 0;
  let kept = "";
  for (const piece of line.split(styles)) {
    if (piece.startsWith(escapeCharacter)) {
      kept += piece;
      continue;
    }
    for (const { segment } of segmenter.segment(piece)) {
      const columns = widthOf(segment);
      if (at >= start && at + columns <= start + length) kept += segment;
      at += columns;
    }
  }
  return kept;
}

/** Breaks a text into lines of at most `width` columns, at spaces where possible. */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    let current = "";
    for (const word of line.split(/(?<=\s)/)) {
      if (visibleWidth(current + word.trimEnd()) > width && current !== "") {
        lines.push(current.trimEnd());
        current = "";
      }
      current += word;
    }
    lines.push(current);
  }
  return lines;
}
