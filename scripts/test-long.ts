/**
 * Tests each package separately, with complete long suites, but only if it has changed since it last passed:
 * turbo tracks the inputs of each package.
 */
import { spawnSync } from "node:child_process";

// One package at a time, because vitest uses all cores itself.
const { status } = spawnSync("turbo", ["run", "test", "test:rest", "--concurrency=1"], {
  env: { ...process.env, TAU_LONG: "1", TAU_SEED: "1" },
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
