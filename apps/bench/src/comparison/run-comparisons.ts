import { type CompareOptions, compare } from "./compare.ts";
import type { Comparison } from "./comparison.ts";
import { comparisonTable } from "./comparison-table.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

export function rowNames(): string[] {
  return scenarios.flatMap(({ rows }) => Object.keys(rows));
}

/** The rows whose targets need no peer: a ratio to the floor, or a maximum. */
export function rowsWithoutPeers(): string[] {
  const specs = scenarios.flatMap(({ rows }) => Object.entries(rows));
  return specs.flatMap(([name, { floor, most }]) => ((floor ?? most) === undefined ? [] : [name]));
}

/** Measures the named rows, or all, and prints each scenario when it is done. */
export async function runComparisons(
  options: CompareOptions,
  only: readonly string[] | undefined,
): Promise<Comparison[]> {
  const isChosen = (name: string) => only?.includes(name) ?? true;
  const results: Comparison[] = [];
  for (const scenario of scenarios.filter(hasRow(isChosen))) {
    const all = await compare(scenario, options);
    const rows = all.filter(({ name }) => isChosen(name));
    console.log(`\n${comparisonTable(rows)}`);
    for (const failure of new Set(rows.flatMap(({ failures }) => failures))) {
      console.log(`failed: ${failure}`);
    }
    results.push(...rows);
  }
  return results;
}

function hasRow(isChosen: (name: string) => boolean): (scenario: Scenario) => boolean {
  return ({ rows }) => Object.keys(rows).some(isChosen);
}
