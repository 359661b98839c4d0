import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bestPeer, type Comparison, holds, peerRatio } from "./comparison.ts";
import { type ComparisonData, comparisonsOf, readComparisonData } from "./comparison-data.ts";
import { amount, comparisonCells } from "./comparison-table.ts";
import { limits } from "./limits.ts";
import { markdownTable } from "./markdown-table.ts";
import { type PlotRow, plotSvg } from "./plot.ts";
import { type PlotSpec, plots } from "./plots.ts";

const NOTE = `<!-- Written by \`npx -y pnpm@12 bench:pages\` from apps/bench/data/comparison.json. -->`;

/** Writes the pages of the latest run of the comparison; returns their paths. */
export function writePerformancePages(): string[] {
  const files = performanceFiles(readComparisonData());
  return [...files].map(([name, text]) => {
    const path = fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url));
    writeFileSync(path, text);
    return path;
  });
}

/** The pages and pictures of a run, by path below `docs/`. */
export function performanceFiles(data: ComparisonData): Map<string, string> {
  const rows = comparisonsOf(data);
  return new Map([
    ["performance.md", readersPage(data, rows)],
    ["performance-targets.md", targetsPage(data, rows)],
    ...plots.map((plot): [string, string] => [fileOf(plot), pictureOf(plot, rows)]),
  ]);
}

function readersPage({ date, machine, hosts }: ComparisonData, rows: readonly Comparison[]) {
  const ratios = rows.map(peerRatio).filter((ratio) => ratio !== undefined);
  const better = ratios.filter((ratio) => ratio < 1).length;
  const pictures = plots.map((plot) => `## ${plot.title}\n\n![${altOf(plot)}](${fileOf(plot)})\n`);
  return `${NOTE}

# Performance

Tau beside pi, which speaks the same protocol: in each row, the best of the releases below. All take turns in one run,
as they are installed, over stdio, with a model server on the same machine. Values are medians, and less is better everywhere: Tau
needs less in ${better} of ${ratios.length} rows. Each pair of bars has a scale of its own.

- Date: ${date}
- Machine: ${machine}
- Hosts: ${hosts}

What a session costs in memory, and how many fit on a machine, is in [What it costs to run](costs.md). To repeat the
comparison: \`npx -y pnpm@12 bench --peers\` ([how](../apps/bench/README.md)).

${pictures.join("\n")}
## All values

The floor is a small program that does the least that the same work needs.

${markdownTable(valueCells(rows), 1)}
`;
}

function targetsPage({ date, failures }: ComparisonData, rows: readonly Comparison[]): string {
  const notMeasured = failures.length > 0 ? `\nNot measured: ${failures.join("; ")}.\n` : "";
  return `${NOTE}

# Performance targets

For contributors: what the rows of [performance.md](performance.md) have to reach, as ratios to the best peer and to the
floor, and what keeps those that miss from it. Measured on ${date}.
[profiles.md](../apps/bench/profiles.md) has profiles of them.

${markdownTable(comparisonCells(rows), 2)}
${notMeasured}${limitsOf(rows)}`;
}

/** All values, in the order of the pictures; a picture's title completes the labels of its rows. */
function valueCells(rows: readonly Comparison[]): string[][] {
  // Keeps a value and its unit on one line.
  const value = (row: Comparison, result: Comparison["tau"]) =>
    amount(row, result).replace(" ", "\u00a0");
  const cells = plots.flatMap(({ title, rows: names }) =>
    Object.entries(names).flatMap(([name, label]) => {
      const row = rows.find((one) => one.name === name);
      if (row === undefined) return [];
      const values = [row.tau, bestPeer(row)?.result, row.floorResult];
      return [[`${title}: ${inSentence(label)}`, ...values.map((result) => value(row, result))]];
    }),
  );
  return [["What", "Tau", "pi", "floor"], ...cells];
}

/** A label after a colon in lower case, except for abbreviations. */
function inSentence(label: string): string {
  return /^[A-Z][A-Z]/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}

/** The known reasons why rows miss their targets. */
function limitsOf(rows: readonly Comparison[]): string {
  const known = rows.filter((row) => !holds(row) && limits[row.name] !== undefined);
  const list = known.map(({ name }) => `- \`${name}\`: ${limits[name]}.`);
  return list.length === 0 ? "" : `\n## What limits the rows that miss\n\n${list.join("\n")}\n`;
}

function fileOf({ name }: PlotSpec): string {
  return `images/performance-${name}.svg`;
}

function altOf({ title }: PlotSpec): string {
  return `${title}: bars of Tau and pi; the values are in the table below`;
}

function pictureOf({ title, rows: names }: PlotSpec, rows: readonly Comparison[]): string {
  const shown = Object.entries(names).flatMap(([name, what]): PlotRow[] => {
    const row = rows.find((one) => one.name === name);
    const [tau, peer] = [row?.tau, row && bestPeer(row)?.result];
    if (row === undefined || tau === undefined || peer === undefined) return [];
    const value = (of: typeof tau) => ({ value: of.median, text: amount(row, of) });
    return [{ what, tau: value(tau), peer: value(peer) }];
  });
  return plotSvg(title, "pi", shown);
}
