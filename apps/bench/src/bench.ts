/**
 * Measures the host against floors from the same run, in turns, and with `--peers` also against other hosts:
 * `bench [--peers] [--quick] [--only name]… [--json path] [--host "argv"] [--before "argv"] [--peer
 * "argv"]…`. `bench --profile [--only name]…` shows what limits rows of that comparison.
 */
import { existsSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Comparison, holds } from "./comparison/comparison.ts";
import { writeComparisonData } from "./comparison/comparison-data.ts";
import { otherPeer, pi, tau } from "./comparison/contestants.ts";
import { writePerformancePages } from "./comparison/performance-page.ts";
import { rowNames, rowsWithoutPeers, runComparisons } from "./comparison/run-comparisons.ts";
import { hostCommand } from "./host-command.ts";
import { type BenchOptions, type Measurement, passes, type Row } from "./measurement.ts";
import { bashMemory } from "./measurements/bash-memory.ts";
import { commandGrowth } from "./measurements/command-growth.ts";
import { durableCalls } from "./measurements/durable-calls.ts";
import { fleetJobs } from "./measurements/fleet-jobs.ts";
import { getStateLatency } from "./measurements/get-state-latency.ts";
import { idleMemory } from "./measurements/idle-memory.ts";
import { isolatedTasks } from "./measurements/isolated-tasks.ts";
import { manySessions } from "./measurements/many-sessions.ts";
import { pushedEvents } from "./measurements/pushed-events.ts";
import { rewindSnapshot } from "./measurements/rewind-snapshot.ts";
import { sessionCosts } from "./measurements/session-costs.ts";
import { storeAppends } from "./measurements/store-appends.ts";
import { argumentStream, textStream } from "./measurements/streams.ts";
import { warmSession } from "./measurements/warm-session.ts";
import { profile } from "./profile/profile.ts";
import { table } from "./table.ts";

const measurements: readonly Measurement[] = [
  idleMemory,
  textStream,
  argumentStream,
  getStateLatency,
  commandGrowth,
  bashMemory,
  isolatedTasks,
  rewindSnapshot,
  durableCalls,
  warmSession,
  sessionCosts,
  ...manySessions,
  pushedEvents,
  storeAppends,
  fleetJobs,
];

const { values } = parseArgs({
  options: {
    peers: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    host: { type: "string" },
    before: { type: "string" },
    peer: { type: "string", multiple: true, default: [] },
  },
});

const options: BenchOptions = {
  isQuick: values.quick,
  hostCommand: hostCommand(values.host),
  beforeCommand: values.before === undefined ? undefined : hostCommand(values.before),
};
const contestants = { tau: tau(values.host), isQuick: values.quick };
const results: Record<string, Row[]> = {};
let comparisons: readonly Comparison[] = [];
const unknown = (values.only ?? []).filter((name) => !names().includes(name));
if (unknown.length > 0) {
  fail(`There is no measurement ${unknown.join(", ")}. There are: ${names().join(", ")}`);
} else if (!existsSync("/proc/self/task")) {
  fail("CPU and memory of children are read from /proc, which this system does not have.");
} else if (values.profile) {
  const written = await profile(values.only);
  if (written !== undefined) console.log(`\nThe profiles are in ${written}`);
} else {
  if (!values.peers) await runMeasurements();
  if (values.peers || values.only) await compareWithPeers();
  else comparisons = await runComparisons({ ...contestants, peers: [] }, rowsWithoutPeers());
  conclude();
}

function names(): string[] {
  return [...measurements.map(({ name }) => name), ...rowNames()];
}

async function runMeasurements(): Promise<void> {
  for (const { name, run } of measurements) {
    if (values.only && !values.only.includes(name)) continue;
    console.log(`\n${name}`);
    try {
      const rows = await run(options);
      results[name] = rows;
      console.log(table(rows));
    } catch (error) {
      fail(
        `${name} could not be measured: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

async function compareWithPeers(): Promise<void> {
  const options = { ...contestants, peers: [pi(), ...values.peer.map(otherPeer)] };
  comparisons = await runComparisons(options, values.only);
  // The page must contain a whole run, so a partial run does not update it.
  if (values.only || values.quick) return;
  writeComparisonData(comparisons, options);
  console.log(`\nWritten: ${writePerformancePages().join(", ")}`);
}

function conclude(): void {
  const path = values.json ?? fileURLToPath(new URL("../results.json", import.meta.url));
  writeFileSync(path, `${JSON.stringify(report(), null, 2)}\n`);
  const missed =
    comparisons.filter((row) => !holds(row)).length +
    Object.values(results)
      .flat()
      .filter((row) => !passes(row)).length;
  console.log(
    `\n${missed === 0 ? "All targets reached." : `${missed} targets missed.`} Written to ${path}`,
  );
  if (missed > 0) process.exitCode = 1;
}

function report(): object {
  return {
    date: new Date().toISOString(),
    node: process.version,
    system: `${process.platform} ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}`,
    host: options.hostCommand,
    isQuick: options.isQuick,
    results,
    comparisons,
  };
}

function fail(text: string): void {
  console.error(text);
  process.exitCode = 1;
}
