import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import { randomHex, readJsonFile } from "@tau-agent/system";
import type { RunProgram } from "./run-program.ts";

/**
 * Options that keep npm from running a program chosen by a package: no scripts, and no git, because npm prepares git
 * dependencies with their scripts and settings. Older versions of npm do not know `allow-git`, and find no git.
 */
const careful = [
  ...["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"],
  ...["--no-update-notifier", "--allow-git=none", "--git=/nonexistent/git"],
];

/**
 * Runs npm in a folder whose content is untrusted. The folder's own npm settings are ignored, because they could name
 * programs for npm to start and servers to send the environment to.
 *
 * @throws {SessionError} `package_failed`
 */
export async function runNpm(
  run: RunProgram,
  folder: string,
  [command, ...words]: readonly [string, ...string[]],
): Promise<void> {
  await refuseGit(folder);
  // Some file systems ignore case in names.
  const settings = (await readdir(folder)).filter((name) => name.toLowerCase() === ".npmrc");
  const moved = settings.map((name) => ({
    from: join(folder, name),
    to: join(folder, `.npmrc-${randomHex(6)}.tmp`),
  }));
  try {
    for (const { from, to } of moved) await rename(from, to);
    await run("npm", [command, ...careful, ...words], { cwd: folder });
  } finally {
    for (const { from, to } of moved) await rename(to, from).catch(() => undefined);
  }
}

const fromGit =
  /^(?:git(?:\+|:|@)|ssh:|(?:github|gitlab|bitbucket|gist):|[^@./:][^/:@]*\/[^/:@]+$|https?:\/\/[^?#]*\.git(?:[?#]|$))/i;

/** Refuses git dependencies before npm does, with an error that names the dependency. */
async function refuseGit(folder: string): Promise<void> {
  const file = await readJsonFile(join(folder, "package.json"));
  if (file.kind !== "object") return;
  const { dependencies, optionalDependencies } = file.value;
  for (const list of [dependencies, optionalDependencies]) {
    if (!isJsonObject(list)) continue;
    const found = Object.entries(list).find(([, spec]) => fromGit.test(String(spec).trim()));
    if (found === undefined) continue;
    const reason = `it depends on ${found[0]} from git (${String(found[1])}), which npm would build by running code of it; only dependencies from a registry or a file are installed`;
    throw new SessionError("package_failed", { program: "npm", reason });
  }
}
