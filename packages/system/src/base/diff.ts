/** Consecutive lines that are in both texts, or in only one of them. */
export interface LineChange {
  readonly kind: "same" | "removed" | "added";
  readonly lines: readonly string[];
}

export interface ChangeDetails {
  /** Line-numbered diff with four lines of context. */
  readonly diff: string;
  /** Unified patch of the file's exact content. */
  readonly patch: string;
  /** The first line of the new text that differs, from 1. */
  readonly firstChangedLine?: number;
}

const contextLines = 4;
// Above this number of changed lines a minimal diff costs more than it is worth.
const maxEditLength = 2000;

type DiffArrays = typeof import("diff")["diffArrays"];

/** Compares two lists of lines; very different ones come out as one large change. */
export async function diffLines(
  oldLines: readonly string[],
  newLines: readonly string[],
): Promise<LineChange[]> {
  const ends = equalEnds(oldLines, newLines);
  const isPlain = ends.oldLines.length === 0 || ends.newLines.length === 0;
  return joined(ends, isPlain ? undefined : (await import("diff")).diffArrays);
}

interface EqualEnds {
  readonly start: readonly string[];
  readonly end: readonly string[];
  readonly oldLines: string[];
  readonly newLines: string[];
}

function equalEnds(oldLines: readonly string[], newLines: readonly string[]): EqualEnds {
  let start = 0;
  const shorter = Math.min(oldLines.length, newLines.length);
  while (start < shorter && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++;
  return {
    start: oldLines.slice(0, start),
    end: oldLines.slice(oldLines.length - end),
    oldLines: oldLines.slice(start, oldLines.length - end),
    newLines: newLines.slice(start, newLines.length - end),
  };
}

function joined({ start, end, ...middle }: EqualEnds, diffArrays?: DiffArrays): LineChange[] {
  const changes: LineChange[] = [
    { kind: "same", lines: start },
    ...diffMiddle(middle, diffArrays),
    { kind: "same", lines: end },
  ];
  return changes.filter(({ lines }) => lines.length > 0);
}

function diffMiddle(
  { oldLines, newLines }: Pick<EqualEnds, "oldLines" | "newLines">,
  diffArrays?: DiffArrays,
): LineChange[] {
  const parts = diffArrays?.(oldLines, newLines, { maxEditLength });
  if (parts === undefined) {
    return [
      { kind: "removed", lines: oldLines },
      { kind: "added", lines: newLines },
    ];
  }
  return parts.map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    lines: value,
  }));
}

/** Like {@link describeChange}, for callers that have loaded the diff library. */
export function describeChangeNow(
  { path, oldContent, newContent }: { path: string; oldContent: string; newContent: string },
  diffArrays: DiffArrays,
): ChangeDetails {
  const compare = (before: string, after: string): LineChange[] =>
    joined(equalEnds(linesWithEnds(before), linesWithEnds(after)), diffArrays);
  const shown = compare(plainEnds(oldContent), plainEnds(newContent));
  return detailsOf(path, compare(oldContent, newContent), shown);
}

/** Describes the change from one content of a file to another; `path` heads the patch. */
export async function describeChange(
  path: string,
  oldContent: string,
  newContent: string,
): Promise<ChangeDetails> {
  const exact = await diffLines(linesWithEnds(oldContent), linesWithEnds(newContent));
  const hasReturns = oldContent.includes("\r") || newContent.includes("\r");
  const shown = hasReturns
    ? await diffLines(linesWithEnds(plainEnds(oldContent)), linesWithEnds(plainEnds(newContent)))
    : exact;
  return detailsOf(path, exact, shown);
}

function detailsOf(
  path: string,
  exact: readonly LineChange[],
  shown: readonly LineChange[],
): ChangeDetails {
  const first = firstChangedLine(shown);
  return {
    diff: numberedDiff(shown),
    patch: unifiedPatch(path, exact),
    ...(first !== undefined && { firstChangedLine: first }),
  };
}

function firstChangedLine(changes: readonly LineChange[]): number | undefined {
  const [first] = changes;
  if (first === undefined || (changes.length === 1 && first.kind === "same")) return undefined;
  return first.kind === "same" ? first.lines.length + 1 : 1;
}

/** Removed lines have their old numbers, added lines their new ones. */
function numberedDiff(changes: readonly LineChange[]): string {
  const counts = { same: 0, removed: 0, added: 0 };
  for (const { kind, lines } of changes) counts[kind] += lines.length;
  const width = String(counts.same + Math.max(counts.removed, counts.added)).length;
  const output: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  const print = (sign: string, number: number, line: string) =>
    output.push(`${sign}${String(number).padStart(width)} ${line.replace(/\n$/, "")}`);
  for (const [index, { kind, lines }] of changes.entries()) {
    if (kind === "same") {
      const before = index > 0 ? Math.min(contextLines, lines.length) : 0;
      const after = index < changes.length - 1 ? Math.min(contextLines, lines.length - before) : 0;
      const skipped = lines.length - before - after;
      for (const [offset, line] of lines.slice(0, before).entries()) {
        print(" ", oldLine + offset, line);
      }
      if (skipped > 0) output.push(` ${" ".repeat(width)} ...`);
      for (let offset = lines.length - after; offset < lines.length; offset++) {
        print(" ", oldLine + offset, lines[offset] ?? "");
      }
    } else {
      const [sign, from] = kind === "added" ? ["+", newLine] : ["-", oldLine];
      for (const [offset, line] of lines.entries()) print(sign, from + offset, line);
    }
    if (kind !== "added") oldLine += lines.length;
    if (kind !== "removed") newLine += lines.length;
  }
  return output.join("\n");
}

interface Hunk {
  oldStart: number;
  newStart: number;
  oldCount: number;
  newCount: number;
  readonly lines: string[];
}

function unifiedPatch(path: string, changes: readonly LineChange[]): string {
  const name = path.replaceAll("\\", "/").replace(/^\/+/, "");
  const hunks = hunksOf(changes).map(({ oldStart, oldCount, newStart, newCount, lines }) => {
    // A side without lines is identified by the line before it.
    const oldFrom = oldCount === 0 ? oldStart - 1 : oldStart;
    const newFrom = newCount === 0 ? newStart - 1 : newStart;
    return `@@ -${oldFrom},${oldCount} +${newFrom},${newCount} @@\n${lines.join("")}`;
  });
  return `--- a/${name}\n+++ b/${name}\n${hunks.join("")}`;
}

function hunksOf(changes: readonly LineChange[]): Hunk[] {
  const hunks: Hunk[] = [];
  let current: Hunk | undefined;
  let oldLine = 1;
  let newLine = 1;
  const open = (): Hunk => {
    const hunk = { oldStart: oldLine, newStart: newLine, oldCount: 0, newCount: 0, lines: [] };
    hunks.push(hunk);
    return hunk;
  };
  for (const [index, { kind, lines }] of changes.entries()) {
    const isLast = index === changes.length - 1;
    for (const [offset, line] of lines.entries()) {
      const rest = lines.length - offset;
      const isContext =
        kind !== "same" ||
        (offset < contextLines && index > 0) ||
        (rest <= contextLines && !isLast);
      if (isContext) {
        current ??= open();
        addLine(current, kind, line);
      } else current = undefined;
      if (kind !== "added") oldLine++;
      if (kind !== "removed") newLine++;
    }
  }
  return hunks;
}

function addLine(hunk: Hunk, kind: LineChange["kind"], line: string): void {
  const sign = kind === "same" ? " " : kind === "added" ? "+" : "-";
  hunk.lines.push(
    line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`,
  );
  if (kind !== "added") hunk.oldCount++;
  if (kind !== "removed") hunk.newCount++;
}

function linesWithEnds(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  const ended = lines.map((line) => `${line}\n`);
  if (last !== "") ended.push(last);
  return ended;
}

function plainEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
