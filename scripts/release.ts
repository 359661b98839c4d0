/**
 * Builds all packages from scratch and publishes those whose version npm does not have yet. `--dry-run` stops
 * before anything leaves the machine.
 */
import { execFileSync } from "node:child_process";
import { obstacle } from "./publish/obstacle.ts";
import { root } from "./publish/published-packages.ts";

const isDryRun = process.argv.includes("--dry-run");

function run(program: string, ...words: readonly string[]): void {
  execFileSync(program, words, { cwd: root, stdio: "inherit" });
}

const reason = isDryRun ? undefined : obstacle(root);
if (reason === undefined) {
  run("node", "scripts/write-repository.ts", "--check");
  run("git", "clean", "-fdxq", "packages/*/dist", "apps/*/dist");
  run("turbo", "run", "build", "--force");
  run("node", "scripts/check-packages.ts", "--no-install");
  if (!isDryRun) run("changeset", "publish");
} else {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}
