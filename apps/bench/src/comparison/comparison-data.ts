import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import type { Summary } from "../measurement.ts";
import type { CompareOptions } from "./compare.ts";
import type { Comparison } from "./comparison.ts";
import { scenarios } from "./scenarios/index.ts";

const path = fileURLToPath(new URL("../../data/comparison.json", import.meta.url));

interface Medians {
  readonly tau?: number;
  readonly floor?: number;
  readonly peers?: Readonly<Record<string, number>>;
}

/** A whole, committed run of the comparison, from which the pages and plots are generated. */
export interface ComparisonData {
  readonly date: string;
  readonly machine: string;
  /** Names and versions, Tau first. */
  readonly hosts: string;
  readonly failures: readonly string[];
  readonly rows: Readonly<Record<string, Medians>>;
}

export function writeComparisonData(rows: readonly Comparison[], options: CompareOptions): void {
  const hosts = [options.tau, ...options.peers];
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${gibibytes} GiB`;
  const data: ComparisonData = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${machine}; ${process.platform} ${release()}, Node ${process.version}`,
    hosts: hosts.map(({ name, version }) => `${name} ${version}`.trim()).join(", "),
    failures: [...new Set(rows.flatMap((row) => row.failures))],
    rows: Object.fromEntries(rows.map((row) => [row.name, mediansOf(row)])),
  };
  writeFileSync(path, `${JSON.stringify(data, null, 2)}\n`);
}

/** The latest kept run. */
export function readComparisonData(): ComparisonData {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The rows of a run with their current targets. */
export function comparisonsOf({ rows }: ComparisonData): Comparison[] {
  const specs = scenarios.flatMap((scenario) => Object.entries(scenario.rows));
  return specs.flatMap(([name, spec]): Comparison[] => {
    const medians = rows[name];
    if (medians === undefined) return [];
    const peers = Object.entries(medians.peers ?? {});
    return [
      {
        unit: "ms",
        ...spec,
        name,
        ...(medians.tau !== undefined && { tau: summary(medians.tau) }),
        ...(medians.floor !== undefined && { floorResult: summary(medians.floor) }),
        peers: peers.map(([peer, median]) => ({ name: peer, result: summary(median) })),
        failures: [],
      },
    ];
  });
}

function mediansOf({ tau, floorResult, peers }: Comparison): Medians {
  const of = ({ median }: Summary) => Number(median.toPrecision(4));
  return {
    ...(tau && { tau: of(tau) }),
    ...(floorResult && { floor: of(floorResult) }),
    peers: Object.fromEntries(peers.map(({ name, result }) => [name, of(result)])),
  };
}

function summary(median: number): Summary {
  return { min: median, median, count: 1 };
}
