/** Runs the long suites whole: those of which the test command runs a part. */
import { spawnSync } from "node:child_process";
import { longSuites } from "./testing/long-suites.ts";

const { status } = spawnSync("vitest", ["run", ...longSuites()], {
  env: { ...process.env, TAU_LONG: "1" },
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
