/**
 * The test command: `npx -y pnpm@12 test`. Without arguments, it runs everything except the long files whose
 * turn it is not; with arguments, exactly what vitest runs with them. In CI, files that failed alongside
 * others run once more on their own.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FailedFiles, readFailedFiles } from "./testing/failed-files.ts";
import { longFiles } from "./testing/long-files.ts";
import { slice } from "./testing/slice.ts";

/** How many of the long files run each time: as many as fit into four minutes on two cores. */
const TURNS = 6;
/** If more files fail, a busy machine is not the reason. */
const MOST_FAILED = 6;

const words = process.argv.slice(2);
const chosen = new Set(words.length > 0 ? longFiles : slice(longFiles, TURNS));
const resting = longFiles.filter((file) => !chosen.has(file));
const folder = mkdtempSync(join(tmpdir(), "tau-failed-"));
try {
  process.exitCode = runTests();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function runTests(): number {
  const first = run([...words, ...resting.flatMap((file) => ["--exclude", file])], "first");
  if (first.status === 0 || !process.env.CI) return first.status;
  const { files, isRepeatable } = first.failed;
  if (!isRepeatable || files.length === 0 || files.length > MOST_FAILED) return first.status;
  console.log(`Once more, one after the other, with nothing beside them: ${files.join(", ")}\n`);
  return run([...files, "--maxWorkers=1"], "second").status;
}

function run(args: readonly string[], name: string): { status: number; failed: FailedFiles } {
  const list = join(folder, name);
  const { status } = spawnSync("vitest", ["run", ...args], {
    env: { ...process.env, TAU_RESTING: String(resting.length), TAU_FAILED_FILES: list },
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  return { status: status ?? 1, failed: readFailedFiles(list) };
}
