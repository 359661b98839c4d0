import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { reasonNotRun } from "./describe-with.ts";
import { noteFailedFiles } from "./failed-files.ts";
import { runsWhole, seed } from "./slice.ts";
import { slicedSuites } from "./sliced-suites.ts";

/** Reports at the end of a run which tests were skipped and why, and which had to run twice. */
export default class RunSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    noteFailedFiles(modules, unhandledErrors);
    const lines = [
      ...describeSkipped(modules),
      ...describeSlices(modules),
      ...describeRetried(modules),
    ];
    if (lines.length > 0) console.log(`${lines.map((line) => `   ${line}`).join("\n")}\n`);
  }
}

function describeSkipped(modules: readonly TestModule[]): string[] {
  const counts = new Map<string, number>();
  for (const module of modules) {
    for (const test of module.children.allTests("skipped")) {
      const reason = reasonNotRun(test.fullName);
      if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
  }
  return [...counts].map(
    ([reason, count]) => `Not run: ${count} ${count === 1 ? "test" : "tests"}, because ${reason}`,
  );
}

function describeSlices(modules: readonly TestModule[]): string[] {
  if (runsWhole) return [];
  const suites = new Set(slicedSuites());
  const ran = modules.filter(({ moduleId }) => suites.has(relative(process.cwd(), moduleId)));
  // Set by the test command.
  const resting = Number(process.env.TAU_RESTING ?? 0);
  if (ran.length + resting === 0) return [];
  const rest = resting === 0 ? "" : `, and ${resting} long files had no turn`;
  return [
    `A part of ${ran.length} long suites ran${rest} (TAU_SEED=${seed}); test:long runs all of them.`,
  ];
}

function describeRetried(modules: readonly TestModule[]): string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests("passed")]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map(
        (test) => `Passed at the second try only: ${module.relativeModuleId} > ${test.fullName}`,
      ),
  );
}
