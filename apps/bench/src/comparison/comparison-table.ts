import type { Summary } from "../measurement.ts";
import {
  bestPeer,
  type Comparison,
  floorRatio,
  holds,
  isCompared,
  peerRatio,
} from "./comparison.ts";

const head = [
  "Row",
  "What",
  "Tau",
  "best peer",
  "floor",
  "× peer",
  "wanted",
  "× floor",
  "wanted",
  "",
];

/** The rows of the comparison as table cells, the header first. */
export function comparisonCells(rows: readonly Comparison[]): string[][] {
  return [head, ...rows.map(cells)];
}

export function comparisonTable(rows: readonly Comparison[]): string {
  // A terminal is too narrow for the column with sentences.
  const all = comparisonCells(rows).map((row) => row.filter((_, column) => column !== 1));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return all.map((row) => row.map(pad).join("  ").trimEnd()).join("\n");
}

function cells(row: Comparison): string[] {
  const best = bestPeer(row);
  return [
    row.name,
    row.what,
    amount(row, row.tau),
    amount(row, best?.result),
    amount(row, row.floorResult),
    ratio(peerRatio(row)),
    row.most === undefined ? wanted(row.peer) : `≤ ${row.most} ${row.unit}`,
    ratio(floorRatio(row)),
    wanted(row.floor),
    hasTarget(row) ? verdict(row) : "",
  ];
}

/** A median with the unit of its row. */
export function amount({ unit }: Comparison, result: Summary | undefined): string {
  return result === undefined ? "–" : `${number(result.median)} ${unit}`;
}

function verdict(row: Comparison): string {
  if (!holds(row)) return "MISSED";
  return isCompared(row) ? "ok" : "not compared";
}

function hasTarget({ peer, floor, most }: Comparison): boolean {
  return peer !== undefined || floor !== undefined || most !== undefined;
}

function number(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function ratio(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(2);
}

function wanted(value: number | undefined): string {
  return value === undefined ? "" : `≤ ${value}`;
}
