import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongFilesFirst } from "./scripts/testing/long-files-first.ts";
// Chooses which part of the long suites runs; workers inherit it, and the end of the run says it.
import "./scripts/testing/slice.ts";

// Sources, not builds: `@tau-agent/source` is the condition every package exports first.
// `import` and `default` always hold; named here, they would also hold for `require` in packages.
const conditions = ["@tau-agent/source", "node"];
const shared = { resolve: { conditions }, ssr: { resolve: { conditions } } };

// Every frame of a run is recorded, and held against the published schema at its end.
const recording = fileURLToPath(new URL("apps/cli/test/recording", import.meta.url));
// No test sends what a vendor would refuse.
const noRefusals = fileURLToPath(new URL("packages/ai/test/no-refusals.ts", import.meta.url));
// Passing waits end early, so long limits cost nothing, and a slow, busy machine needs them. What must happen in
// time has its own limit, and a process that a test expects to be stopped would run for ten minutes.
const expect = { poll: { timeout: 120_000 } };
// No request changes what an earlier one of its conversation began with.
const stablePrefix = fileURLToPath(new URL("packages/ai/test/stable-prefix.ts", import.meta.url));
const seedProperties = fileURLToPath(
  new URL("scripts/testing/seed-properties.ts", import.meta.url),
);
const setupFiles = [join(recording, "record-tests.ts"), noRefusals, seedProperties];

// What runs around a run knows no conditions, and unit tests need no build.
const protocol = fileURLToPath(new URL("packages/rpc-protocol/src/index.ts", import.meta.url));

const { env } = process;

export default defineConfig({
  resolve: {
    conditions,
    alias: [{ find: /^@tau-agent\/rpc-protocol$/, replacement: protocol }],
  },
  ssr: shared.ssr,
  test: {
    reporters: ["default", "./scripts/testing/run-summary.ts"],
    // A busy machine starves one test in thousands; the end of the run names what needed a second
    // try. What fast-check found is never tried again: the second try would have other values.
    retry: { count: env.CI ? 1 : 0, condition: /^(?!Property failed after)/ },
    sequence: { sequencer: LongFilesFirst },
    globalSetup: join(recording, "check-run.ts"),
    // A worker keeps its modules from file to file, as the code has no state in them. Starting a
    // process and loading everything anew for each of 400 files took a fifth of the whole run.
    isolate: false,
    // Tests wait for processes a third of their time; by default one core is even left alone.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Holding a run's frames against the schema takes seconds, and more on a busy machine.
    teardownTimeout: 120_000,
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          setupFiles: [...setupFiles, stablePrefix],
          expect,
          include: [
            "packages/*/src/**/*.test.ts",
            "apps/*/src/**/*.test.ts",
            "scripts/**/*.test.ts",
          ],
        },
      },
      {
        ...shared,
        test: {
          name: "integration",
          setupFiles: [...setupFiles, stablePrefix],
          expect,
          // Without an `exclude` of its own, which would take precedence over one of the command line.
          include: [
            "packages/!(worker|ai-sdk-harness)/test/**/*.test.ts",
            "apps/cli/test/*.test.ts",
          ],
        },
      },
      {
        ...shared,
        // Against the built host: `pnpm test` builds first.
        test: {
          name: "e2e",
          setupFiles,
          expect,
          include: [
            "apps/cli/test/e2e/**/*.test.ts",
            "packages/{worker,ai-sdk-harness}/test/**/*.test.ts",
            "docs/examples/**/*.test.ts",
            "clients/*/*.test.ts",
          ],
        },
      },
    ],
  },
});
