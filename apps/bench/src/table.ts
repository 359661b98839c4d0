import { passes, type Row } from "./measurement.ts";

export function table(rows: readonly Row[]): string {
  const head = [
    "",
    "host min",
    "median",
    "against",
    "",
    "ratio",
    "at most",
    "",
    "before",
    "× before",
  ];
  const cells = [head, ...rows.map(rowCells)];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, column))
      .join("  ")
      .trimEnd();
  return cells.map(line).join("\n");
}

function rowCells(row: Row): string[] {
  const verdict = row.target === undefined ? "" : passes(row) ? "pass" : "FAIL";
  return [
    row.what,
    number(row.host.min),
    `${number(row.host.median)} ${row.unit}`,
    row.floor ? number(row.floor.min) : "",
    row.ratioOf ?? "",
    row.ratio === undefined ? "" : row.ratio.toFixed(2),
    row.target === undefined ? "" : row.target.toFixed(2),
    verdict,
    ...(row.before === undefined
      ? []
      : [number(row.before.median), (row.host.median / row.before.median).toFixed(2)]),
  ];
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** Aligns words to the left, numbers to the right. */
function pad(cell: string, width: number, column: number): string {
  return [1, 3, 5, 6, 8, 9].includes(column) ? cell.padStart(width) : cell.padEnd(width);
}
