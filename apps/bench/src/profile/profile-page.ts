import { writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { fileURLToPath } from "node:url";
import { limits } from "../comparison/limits.ts";
import type { RowProfile } from "./profile-rows.ts";

const FUNCTIONS = 12;
const SYSTEM_CALLS = 6;
const path = fileURLToPath(new URL("../../profiles.md", import.meta.url));

export function writeProfilePage(profiles: readonly RowProfile[]): string {
  const text = `<!-- Written by \`npx -y pnpm@12 bench --profile\`. -->

# Profiles of the rows that miss

What Tau does while the rows that miss a [target](../../docs/performance-targets.md) are measured. Times
are those of V8's sampling profiler (every 0.1 ms, all threads that run JavaScript), of the same
bundle without minification, only while the row is measured, and without waiting. The profiler itself
takes part of them, and some MiB of memory, so look at the shares. Rows that are measured by the same
command, such as \`find\` and \`grep\` turns, share a profile. System calls are counted in a run of its own, from the start
of the host through one turn of everything that is measured together with the row, in all threads and
child processes.

- Date: ${new Date().toISOString().slice(0, 10)}
- Machine: ${cpus().length} × ${cpus()[0]?.model ?? "?"}; ${process.platform} ${release()}, Node ${process.version}

To repeat it: \`npx -y pnpm@12 bench --profile\`, or one row with \`--only <name>\`, which prints it. It needs \`strace\`.

${profiles.map(profileText).join("\n")}`;
  writeFileSync(path, text);
  return path;
}

export function profileText({ row, command, selfTimes, systemCalls, memory }: RowProfile): string {
  const total = selfTimes.totalMs;
  const functions = selfTimes.top(FUNCTIONS).map(({ name, ms }) => {
    return `| ${code(name)} | ${ms.toFixed(1)} | ${((100 * ms) / total).toFixed(1)} % |`;
  });
  const calls = systemCalls.top(SYSTEM_CALLS).map(({ name, count }) => `${name} ${count}`);
  const parts = Object.entries(memory ?? {}).sort(([, left], [, right]) => right - left);
  const lines = [
    `## ${row}`,
    "",
    ...(limits[row] ? [`Limit: ${limits[row]}.`, ""] : []),
    `${command === undefined ? "Everything" : `While \`${command}\` is worked on`}, ${total.toFixed(0)} ms of CPU in all turns:`,
    "",
    "| Function | ms of its own | share |",
    "| --- | ---: | ---: |",
    ...functions,
    "",
    `System calls: ${systemCalls.total}, of which ${calls.join(", ")}.`,
    ...(row.endsWith("memory") ? ["", `Resident memory: ${parts.map(megabytes).join(", ")}.`] : []),
    "",
  ];
  return lines.join("\n");
}

function code(name: string): string {
  return /^(?:native|garbage)/.test(name) ? name : `\`${name}\``;
}

function megabytes([name, size]: readonly [string, number]): string {
  return `${name} ${size.toFixed(1)} MiB`;
}
