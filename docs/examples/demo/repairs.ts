import type { SourceFunction } from "./source-files.ts";

/** One line and a possible replacement. */
export interface Repair {
  readonly path: string;
  readonly name: string;
  /** From 1. */
  readonly line: number;
  readonly oldText: string;
  readonly newText: string;
}

type Rewrite = readonly [pattern: RegExp, replacement: string | ((match: string) => string)];

/** Common slips, the likeliest first. */
const rewrites: readonly Rewrite[] = [
  [/ [+-] \d+\b/g, ""],
  [/ \+ (?=\d)/g, " - "],
  [/ - (?=\d)/g, " + "],
  [/\b[\w.]+ - [\w.]+\b(?! [+-] \d)/g, (match) => `${match} + 1`],
  [/\bMath\.(?:floor|ceil|trunc)\b/g, "Math.round"],
  [/ < /g, " <= "],
  [/ <= /g, " < "],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ === /g, " !== "],
  [/ !== /g, " === "],
  [/ \* /g, " / "],
  [/ \/ /g, " * "],
  [/ \+ /g, " - "],
  [/ - /g, " + "],
  [/\b\d+\b/g, (match) => String(Number(match) + 1)],
  [/\b[1-9]\d*\b/g, (match) => String(Number(match) - 1)],
];

/** Every single slip that could explain a wrong result of these functions, the likeliest first. */
export function possibleRepairs(functions: readonly SourceFunction[]): Repair[] {
  const repairs: Repair[] = [];
  for (const suspect of functions) {
    for (const rewrite of rewrites) {
      for (const at of suspect.body) repairs.push(...rewriteLine(suspect, at, rewrite));
    }
  }
  return repairs;
}

function rewriteLine({ file, name }: SourceFunction, at: number, rewrite: Rewrite): Repair[] {
  const oldText = file.lines[at] ?? "";
  const isUnique = file.lines.indexOf(oldText) === file.lines.lastIndexOf(oldText);
  if (!isUnique || /^\s*(\/\/|\*|\/\*)/.test(oldText)) return [];
  const [pattern, replacement] = rewrite;
  return [...oldText.matchAll(pattern)].map((match) => {
    const inserted = typeof replacement === "string" ? replacement : replacement(match[0]);
    const after = oldText.slice(match.index + match[0].length);
    const newText = oldText.slice(0, match.index) + inserted + after;
    return { path: file.path, name, line: at + 1, oldText, newText };
  });
}
