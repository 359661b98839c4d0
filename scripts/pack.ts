/**
 * Packs all packages for npm into a folder, for projects that use Tau before its release; see
 * docs/unreleased.md. Needs pnpm on the PATH, as `pnpm run` puts it there.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { packPackages } from "./publish/pack-packages.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("Name the folder: npx -y pnpm@12 run pack:packages <folder>\n");
  process.exitCode = 2;
} else {
  mkdirSync(folder, { recursive: true });
  for (const { archive } of packPackages(resolve(folder), process.env)) {
    process.stdout.write(`${archive}\n`);
  }
}
