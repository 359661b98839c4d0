/**
 * Checks what users get: packs all packages for npm, checks the contents of the archives and npm's own
 * warnings, and installs and runs the packages as users do (`--no-install` skips that). Needs pnpm on the
 * PATH, as `pnpm run` puts it there.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { checkInstalled } from "./installed/check-installed.ts";
import { checkPacked } from "./publish/check-packed.ts";
import { packPackages } from "./publish/pack-packages.ts";

const folder = mkdtempSync(join(tmpdir(), "tau-packages-"));
// Package managers write no lockfile if they detect CI.
const { HOME: _, CI: __, ...environment } = process.env;
const env = {
  ...environment,
  // npm keeps its cache, but the host finds none of this user's files.
  npm_config_cache: execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim(),
  HOME: folder,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};

try {
  const archives = join(folder, "archives");
  mkdirSync(archives);
  const packed = packPackages(archives, env);
  for (const one of packed) checkPacked(one, join(folder, "unpacked", one.folder), env);
  process.stdout.write(`${packed.length} packages are ready for npm.\n`);
  if (!process.argv.includes("--no-install")) {
    const tried = checkInstalled(packed, { folder, env });
    process.stdout.write(`They install and run: ${tried.join(", ")}.\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
