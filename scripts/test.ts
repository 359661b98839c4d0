/**
 * The test command: `npx -y pnpm@12 test`. Without words it runs everything except the long files that
 * have no turn; with words, exactly what vitest runs with them.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { longFiles } from "./testing/long-files.ts";

/** How many of the long files have their turn: as many as four minutes on two cores have room for. */
const TURNS = 6;

const { env } = process;
env.TAU_SEED ??= String(randomInt(1_000_000));
// It reads the seed when it is loaded.
const { slice } = await import("./testing/slice.ts");

const words = process.argv.slice(2);
const chosen = new Set(words.length > 0 ? longFiles : slice(longFiles, TURNS));
const resting = longFiles.filter((file) => !chosen.has(file));
const { status } = spawnSync(
  "vitest",
  ["run", ...words, ...resting.flatMap((file) => ["--exclude", file])],
  {
    env: { ...env, TAU_RESTING: String(resting.length) },
    stdio: "inherit",
    shell: process.platform === "win32",
  },
);
process.exitCode = status ?? 1;
