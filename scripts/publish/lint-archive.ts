import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./published-packages.ts";

/** Checks with publint that the manifest suits the files, and with attw that TypeScript finds the types. */
export function lintArchive(archive: string, hasTypes: boolean, env: NodeJS.ProcessEnv): void {
  lint("publint", ["run", archive, "--strict"], env);
  if (hasTypes) lint("attw", [archive, "--profile", "esm-only"], env);
}

function lint(command: string, words: readonly string[], env: NodeJS.ProcessEnv): void {
  const path = join(root, "node_modules/.bin", command);
  const { status, stdout, stderr } = spawnSync(path, words, { env, encoding: "utf8" });
  assert.equal(status, 0, `${command} ${words.join(" ")}\n${stdout}${stderr}`);
}
