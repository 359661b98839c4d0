import type { Film, Piece, Style } from "./film.ts";

/** The size of one character, in pixels. */
const cell = { width: 7.8, height: 18 };
const margin = 16;
const titleBar = 34;
const fontSize = 13;

/** The eight colours of a terminal and their bright versions, on a dark background. */
const palette = [
  ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#e6edf3"],
  ["#6e7681", "#ffa198", "#a5f0b0", "#f0d068", "#a5d6ff", "#e2c5ff", "#a5e8ec", "#ffffff"],
].flat();

/**
 * A film as an animated SVG that repeats. Viewers without animation show the last screen.
 *
 * @param holdSeconds - how long the last screen stays
 */
export function filmSvg(film: Film, title: string, holdSeconds: number): string {
  const width = Math.ceil(film.columns * cell.width + 2 * margin);
  const height = film.rows * cell.height + titleBar + margin;
  const lastFrame = film.frames + holdSeconds * film.framesPerSecond;
  const at = (frame: number) => `${round((100 * frame) / lastFrame, 3)}%`;
  const groups = groupPieces(film.pieces);
  const rules = [...groups].map(([name, [piece]]) => (piece ? appearance(name, piece, at) : ""));
  const shown = [...groups].map(
    ([name, pieces]) => `<g id="${name}">${pieces.map(textOf).join("")}</g>`,
  );
  const moves = film.scrolls.map(({ frame, top }) => `${at(frame)}{${moveTo(top)}}`);
  const style = [
    `text{white-space:pre;fill:${palette[7]}}`,
    ...palette.map((color, index) => `.c${index}{fill:${color}}`),
    ".b{font-weight:bold}.d{opacity:.6}",
    `#film,#film g{animation:${round(lastFrame / film.framesPerSecond, 1)}s step-end infinite}`,
    `#film{${moveTo(film.scrolls.at(-1)?.top ?? 0)};animation-name:scroll}`,
    `@keyframes scroll{${moves.join("")}}`,
    ...rules,
    "@media(prefers-reduced-motion){#film,#film g{animation:none!important}}",
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${fontSize}" role="img" aria-label="${escaped(title)}">
<style>${style.join("\n")}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="18" cy="17" r="5" fill="#ff7b72"/><circle cx="36" cy="17" r="5" fill="#e3b341"/><circle cx="54" cy="17" r="5" fill="#7ee787"/>
<text x="50%" y="21" text-anchor="middle" class="d">${escaped(title)}</text>
<svg x="${margin}" y="${titleBar}" width="${width - 2 * margin}" height="${film.rows * cell.height}"><g id="film">
${shown.join("\n")}
</g></svg>
</svg>
`;
}

/** Groups pieces that appear and disappear together, under a name. */
function groupPieces(pieces: readonly Piece[]): Map<string, Piece[]> {
  const groups = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const name = `f${piece.from}${piece.to === undefined ? "" : `-${piece.to}`}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [piece]);
    else group.push(piece);
  }
  return groups;
}

function appearance(name: string, { from, to }: Piece, at: (frame: number) => string): string {
  const end = to === undefined ? "" : `${at(to)}{visibility:hidden}`;
  const frames = `0%{visibility:hidden}${at(from)}{visibility:visible}${end}`;
  const still = to === undefined ? "" : "visibility:hidden;";
  return `@keyframes ${name}{${frames}}#film #${name}{${still}animation-name:${name}}`;
}

function moveTo(top: number): string {
  return `transform:translateY(${-top * cell.height}px)`;
}

function textOf({ line, column, text, style }: Piece): string {
  const x = round(column * cell.width, 1);
  const y = round((line + 0.75) * cell.height, 1);
  // Fonts differ in width; a fixed text length keeps the columns aligned.
  const length = round([...text].length * cell.width, 1);
  return `<text x="${x}" y="${y}" textLength="${length}"${classes(style)}>${escaped(text)}</text>`;
}

function classes({ color, isBold, isDim }: Style): string {
  const names = [color === undefined ? "" : `c${color}`, isBold ? "b" : "", isDim ? "d" : ""];
  const used = names.filter((name) => name !== "").join(" ");
  return used === "" ? "" : ` class="${used}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
