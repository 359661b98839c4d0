import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tau } from "../comparison/contestants.ts";
import type { Contestant } from "../comparison/scenario.ts";

/** Tau built with the names that its sources have, so that a profile can be read. */
export function plainTau(): Contestant {
  const folder = dirname(fileURLToPath(import.meta.resolve("@tau-agent/cli/package.json")));
  // In here packages that are not part of the bundle are found, and git looks at nothing.
  const outDir = join(folder, "node_modules", ".plain-host");
  const tsup = fileURLToPath(import.meta.resolve("tsup/dist/cli-default.js"));
  execFileSync(process.execPath, [tsup, "--no-minify", "--out-dir", outDir], { cwd: folder });
  // As in the package; else Node would find out for each file whether it is a module.
  writeFileSync(join(outDir, "package.json"), '{ "type": "module" }\n');
  return { ...tau(undefined), command: [process.execPath, join(outDir, "cli.js")] };
}
