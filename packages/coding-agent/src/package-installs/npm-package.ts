import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { writeFileAtomic } from "@tau-agent/system";
import { runNpm } from "./run-npm.ts";
import type { RunProgram } from "./run-program.ts";

export interface NpmTools {
  readonly root: string;
  readonly run: RunProgram;
}

/**
 * The name and the version of `npm:name@version`.
 *
 * @throws {SessionError} `invalid_option` for a name that a registry would not accept
 */
export function readNpmSpec(source: string): { name: string; version: string | undefined } {
  const spec = source.slice("npm:".length).trim();
  const at = spec.indexOf("@", 1);
  const name = at === -1 ? spec : spec.slice(0, at);
  const version = at === -1 ? undefined : spec.slice(at + 1);
  const isName = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/i.test(name);
  const isVersion = version === undefined || /^[\w~^<>=*][\w.~^<>=*+|\s-]*$/.test(version);
  if (isName && isVersion && name !== "node_modules") return { name, version };
  const reason = "expected npm:<name> or npm:<name>@<version>, as in a registry";
  throw new SessionError("invalid_option", { option: source, reason });
}

/** Installs a package next to the others, and writes its exact version to their package.json. */
export async function installFromNpm(
  source: string,
  which: "as named" | "newest",
  { root, run }: NpmTools,
): Promise<void> {
  const { name, version } = readNpmSpec(source);
  const prefix = await prefixOf(root);
  const spec =
    version === undefined ? (which === "newest" ? `${name}@latest` : name) : `${name}@${version}`;
  await runNpm(run, prefix, ["install", "--save-exact", "--prefix", prefix, "--", spec]);
}

/** Removes a package, and the dependencies that only it needed. */
export async function dropFromNpm(source: string, { root, run }: NpmTools): Promise<void> {
  const { name } = readNpmSpec(source);
  const prefix = await prefixOf(root);
  await runNpm(run, prefix, ["uninstall", "--prefix", prefix, "--", name]);
}

/** A separate folder: otherwise npm would look for a package.json in a parent folder. */
async function prefixOf(root: string): Promise<string> {
  const prefix = join(root, "npm");
  const manifest = join(prefix, "package.json");
  await mkdir(prefix, { recursive: true, mode: 0o700 });
  // npm does not work with an empty manifest, which a killed host may have left.
  if (!existsSync(manifest)) await writeFileAtomic(manifest, '{ "private": true }\n');
  return prefix;
}
