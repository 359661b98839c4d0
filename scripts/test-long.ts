/**
 * Tests each package on its own, with the long suites whole, and only what changed since it last passed:
 * turbo knows what a package is made of.
 */
import { spawnSync } from "node:child_process";

// One after the other: vitest uses all cores itself.
const { status } = spawnSync("turbo", ["run", "test", "test:rest", "--concurrency=1"], {
  env: { ...process.env, TAU_LONG: "1", TAU_SEED: "1" },
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
