import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tau } from "../comparison/contestants.ts";
import type { Contestant } from "../comparison/scenario.ts";

/** Builds Tau without minification, so that a profile is readable. */
export function plainTau(): Contestant {
  const folder = dirname(fileURLToPath(import.meta.resolve("@tau-agent/cli/package.json")));
  // From this folder, packages outside the bundle can be resolved, and git ignores it.
  const outDir = join(folder, "node_modules", ".plain-host");
  const tsup = fileURLToPath(import.meta.resolve("tsup/dist/cli-default.js"));
  execFileSync(process.execPath, [tsup, "--no-minify", "--out-dir", outDir], { cwd: folder });
  // As in the package; otherwise, Node would have to detect for each file whether it is a module.
  writeFileSync(join(outDir, "package.json"), '{ "type": "module" }\n');
  return { ...tau(undefined), command: [process.execPath, join(outDir, "cli.js")] };
}
