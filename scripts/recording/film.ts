import xterm from "@xterm/headless";
import type { Chunk } from "./record-output.ts";

export interface Piece {
  /** Counted from the first line ever printed, not from the top of the screen. */
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly style: Style;
  /** The frame at which it appears; without `to`, it never disappears. */
  readonly from: number;
  to?: number;
}

export interface Style {
  /** A colour of the terminal's palette, from 0. */
  readonly color?: number;
  readonly isBold?: true;
  readonly isDim?: true;
}

/** What a screen shows over time: all lines on one long strip, and which part of it is visible. */
export interface Film {
  readonly columns: number;
  readonly rows: number;
  readonly framesPerSecond: number;
  readonly frames: number;
  readonly pieces: readonly Piece[];
  /** From this frame on, this line is at the top. */
  readonly scrolls: readonly { readonly frame: number; readonly top: number }[];
}

export type FilmOptions = Pick<Film, "columns" | "rows" | "framesPerSecond">;

interface Cell {
  readonly char: string;
  readonly style: Style;
}

const plain: Style = {};
/** More lines than any recording has. */
const scrollback = 100_000;

/** Plays output on a terminal in memory and records when each piece of text appears and disappears. */
export async function makeFilm(chunks: readonly Chunk[], options: FilmOptions): Promise<Film> {
  const { columns: cols, rows, framesPerSecond } = options;
  const terminal = new xterm.Terminal({
    cols,
    rows,
    scrollback,
    convertEol: true,
    allowProposedApi: true,
  });
  const strip = new Strip();
  const scrolls = [{ frame: 0, top: 0 }];
  let frame = 0;
  for (const [index, { seconds, text }] of chunks.entries()) {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    frame = Math.round(seconds * framesPerSecond);
    const next = chunks[index + 1];
    if (next !== undefined && Math.round(next.seconds * framesPerSecond) === frame) continue;
    const { active } = terminal.buffer;
    for (let line = active.baseY; line < active.baseY + rows; line++) {
      strip.setLine(line, cellsOf(active.getLine(line), cols), frame);
    }
    if (scrolls.at(-1)?.top !== active.baseY) scrolls.push({ frame, top: active.baseY });
  }
  terminal.dispose();
  return { ...options, frames: frame, pieces: strip.pieces, scrolls };
}

/** All lines, with everything they have shown. */
class Strip {
  readonly pieces: Piece[] = [];
  readonly #lines = new Map<number, { cells: readonly Cell[]; shown: Piece[] }>();

  setLine(line: number, cells: readonly Cell[], frame: number): void {
    const before = this.#lines.get(line) ?? { cells: [], shown: [] };
    const isLonger = before.cells.every((cell, at) => isSame(cell, cells[at]));
    if (isLonger && before.cells.length === cells.length) return;
    // If a line only grows, its pieces stay.
    if (!isLonger) for (const piece of before.shown) piece.to = frame;
    const start = isLonger ? before.cells.length : 0;
    const added = piecesOf(cells, start).map((piece) => ({ ...piece, line, from: frame }));
    this.pieces.push(...added);
    this.#lines.set(line, { cells, shown: isLonger ? [...before.shown, ...added] : added });
  }
}

/** Runs of characters with the same style, without surrounding blanks. */
function piecesOf(cells: readonly Cell[], start: number) {
  const pieces: { column: number; text: string; style: Style }[] = [];
  for (let at = start; at < cells.length; ) {
    const { style } = cells[at] ?? { style: plain };
    let end = at;
    while (end < cells.length && styleKey(cells[end]?.style) === styleKey(style)) end++;
    const run = cells.slice(at, end).map(({ char }) => char);
    const text = run.join("");
    const blanks = text.length - text.trimStart().length;
    if (text.trim() !== "") pieces.push({ column: at + blanks, text: text.trim(), style });
    at = end;
  }
  return pieces;
}

type BufferLine = ReturnType<InstanceType<typeof xterm.Terminal>["buffer"]["active"]["getLine"]>;

/** The cells of a line up to its last character. */
function cellsOf(line: BufferLine, columns: number): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at < columns; at++) {
    const cell = line?.getCell(at);
    if (cell === undefined || cell.getWidth() === 0) continue;
    cells.push({
      char: cell.getChars() || " ",
      style: {
        ...(cell.isFgPalette() && { color: cell.getFgColor() }),
        ...(cell.isBold() !== 0 && { isBold: true as const }),
        ...(cell.isDim() !== 0 && { isDim: true as const }),
      },
    });
  }
  const last = cells.findLastIndex(({ char }) => char !== " ");
  return cells.slice(0, last + 1);
}

function isSame(cell: Cell, other: Cell | undefined): boolean {
  return other?.char === cell.char && styleKey(other.style) === styleKey(cell.style);
}

function styleKey({ color, isBold, isDim }: Style = plain): string {
  return `${color ?? ""}${isBold ? "b" : ""}${isDim ? "d" : ""}`;
}
