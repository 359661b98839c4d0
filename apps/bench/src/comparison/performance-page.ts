import { writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import type { CompareOptions } from "./compare.ts";
import { type Comparison, holds } from "./comparison.ts";
import { comparisonCells } from "./comparison-table.ts";
import { limits } from "./limits.ts";

const path = fileURLToPath(new URL("../../../../docs/performance.md", import.meta.url));

/** Writes the comparison to docs/performance.md and returns the path. */
export function writePerformancePage(rows: readonly Comparison[], options: CompareOptions): string {
  const contestants = [options.tau, ...options.peers];
  const versions = contestants.map(({ name, version }) => `${name} ${version}`.trim()).join(", ");
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${gibibytes} GiB`;
  const failures = new Set(rows.flatMap((row) => row.failures));
  const text = `<!-- Written by \`npx -y pnpm@12 bench --peers\`. -->

# Performance

Tau beside other hosts that speak the same protocol, and beside floors: small programs that do the
least that the same work needs. All take turns in one run, on the built hosts, over stdio, with a
model server on the same machine. Values are medians; less is better in every row.

- Date: ${new Date().toISOString().slice(0, 10)}
- Machine: ${machine}; ${process.platform} ${release()}, Node ${process.version}
- Hosts: ${versions}

To repeat it: \`npx -y pnpm@12 bench --peers\`, or one row with \`--only <name>\`;
[apps/bench/README.md](../apps/bench/README.md) says what the peers need.

${markdown(rows)}
${failures.size > 0 ? `\nNot measured: ${[...failures].join("; ")}.\n` : ""}${limitsOf(rows)}`;
  writeFileSync(path, text);
  return path;
}

function markdown(rows: readonly Comparison[]): string {
  const [head = [], ...body] = comparisonCells(rows);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column < 2 ? "---" : "---:"));
  return [head, rule, ...body].map(line).join("\n");
}

/** What keeps the rows that miss a target from it, where that is known. */
function limitsOf(rows: readonly Comparison[]): string {
  const known = rows.filter((row) => !holds(row) && limits[row.name] !== undefined);
  if (known.length === 0) return "";
  const list = known.map(({ name }) => `- \`${name}\`: ${limits[name]}.`);
  const profiles = "[performance-profiles.md](performance-profiles.md) has the profiles.";
  return `\n## What limits the rows that miss\n\n${profiles}\n\n${list.join("\n")}\n`;
}
