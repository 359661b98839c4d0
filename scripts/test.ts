/**
 * The test command: `npx -y pnpm@12 test`. Without words it runs everything except the long files that
 * have no turn; with words, exactly what vitest runs with them.
 */
import { spawnSync } from "node:child_process";
import { longFiles } from "./testing/long-files.ts";
import { slice } from "./testing/slice.ts";

/** How many of the long files have their turn: as many as four minutes on two cores have room for. */
const TURNS = 6;

const words = process.argv.slice(2);
const chosen = new Set(words.length > 0 ? longFiles : slice(longFiles, TURNS));
const resting = longFiles.filter((file) => !chosen.has(file));
const { status } = spawnSync(
  "vitest",
  ["run", ...words, ...resting.flatMap((file) => ["--exclude", file])],
  {
    env: { ...process.env, TAU_RESTING: String(resting.length) },
    stdio: "inherit",
    shell: process.platform === "win32",
  },
);
process.exitCode = status ?? 1;
