/**
 * Measures the host against floors from the same run, taking turns: `bench [--quick] [--only name]…
 * [--json path] [--host "argv"]`.
 */
import { existsSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { hostCommand } from "./host-command.ts";
import { type BenchOptions, type Measurement, passes, type Row } from "./measurement.ts";
import { bashMemory } from "./measurements/bash-memory.ts";
import { commandGrowth } from "./measurements/command-growth.ts";
import { getStateLatency } from "./measurements/get-state-latency.ts";
import { idleMemory } from "./measurements/idle-memory.ts";
import { isolatedTasks } from "./measurements/isolated-tasks.ts";
import { sessionLoad } from "./measurements/session-load.ts";
import { eightHosts, startUp } from "./measurements/start-up.ts";
import { argumentStream, textStream } from "./measurements/streams.ts";
import { toolTurns } from "./measurements/tool-turns.ts";
import { table } from "./table.ts";

const measurements: readonly Measurement[] = [
  startUp,
  eightHosts,
  idleMemory,
  textStream,
  argumentStream,
  toolTurns,
  sessionLoad,
  getStateLatency,
  commandGrowth,
  bashMemory,
  isolatedTasks,
];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    host: { type: "string" },
  },
});

const options: BenchOptions = { isQuick: values.quick, hostCommand: hostCommand(values.host) };
const chosen = measurements.filter(({ name }) => values.only?.includes(name) ?? true);
const results: Record<string, Row[]> = {};
if (chosen.length === 0) {
  fail(
    `There is no such measurement. There are: ${measurements.map(({ name }) => name).join(", ")}`,
  );
} else if (!existsSync("/proc/self/task")) {
  fail("CPU and memory of children are read from /proc, which this system does not have.");
} else {
  await runAll();
}

async function runAll(): Promise<void> {
  for (const { name, run } of chosen) {
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
  const path = values.json ?? fileURLToPath(new URL("../results.json", import.meta.url));
  writeFileSync(path, `${JSON.stringify(report(), null, 2)}\n`);
  const missing = chosen.length - Object.keys(results).length;
  const failed = Object.values(results)
    .flat()
    .filter((row) => !passes(row));
  console.log(`
${verdict(failed.length, missing)} Written to ${path}`);
  if (failed.length > 0) process.exitCode = 1;
}

function verdict(failed: number, missing: number): string {
  if (failed + missing === 0) return "All targets reached.";
  return `${failed} targets missed, ${missing} measurements failed.`;
}

function report(): object {
  return {
    date: new Date().toISOString(),
    node: process.version,
    system: `${process.platform} ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}`,
    host: options.hostCommand,
    isQuick: options.isQuick,
    results,
  };
}

function fail(text: string): void {
  console.error(text);
  process.exitCode = 1;
}
