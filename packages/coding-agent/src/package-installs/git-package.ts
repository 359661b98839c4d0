import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { randomHex } from "@tau-agent/system";
import type { PackageOrigin } from "../resources/packages/package-source.ts";
import { runNpm } from "./run-npm.ts";
import type { RunProgram } from "./run-program.ts";

/** Disables hooks and filters of the user's git configuration, which would run for an unchecked repository. */
const careful = [
  ...["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"],
  ...["-c", "advice.detachedHead=false"],
];

/**
 * Clones a repository and installs its dependencies. It is created next to its final place and moved there once
 * complete, so that an incomplete clone is never used.
 *
 * @throws {SessionError} `invalid_option` for an address that does not name a repository; `package_failed`
 */
export async function cloneRepository(
  source: string,
  { path, url = "", ref }: PackageOrigin,
  { run }: { readonly run: RunProgram },
): Promise<void> {
  if (url === "" || url.startsWith("-") || ref?.startsWith("-")) {
    const reason = "expected git:<host>/<owner>/<repository>[@<branch, tag or commit>]";
    throw new SessionError("invalid_option", { option: source, reason });
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${randomHex(6)}.tmp`;
  try {
    await run("git", [...careful, "clone", "--quiet", "--", url, made]);
    if (ref !== undefined) {
      await run("git", [...careful, "checkout", "--quiet", "--detach", ref, "--"], { cwd: made });
    }
    if (existsSync(join(made, "package.json"))) {
      await runNpm(run, made, ["install", "--omit=dev", "--no-package-lock"]);
    }
    const old = `${path}.${randomHex(6)}.tmp`;
    if (existsSync(path)) await rename(path, old);
    await rename(made, path);
    await rm(old, { recursive: true, force: true });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

export async function headOf(path: string, run: RunProgram): Promise<string | undefined> {
  if (!existsSync(join(path, ".git"))) return undefined;
  const text = await run("git", [...careful, "rev-parse", "HEAD"], { cwd: path }).catch(() => "");
  return text.trim().slice(0, 12) || undefined;
}

export async function dropFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
