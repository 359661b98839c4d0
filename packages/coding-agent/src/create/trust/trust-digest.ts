import type { Hash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { readJsonFile, withFileLock, writeFileAtomic } from "@tau-agent/system";

/** A project's code beyond this counts by its names and sizes only, so that a start stays fast. */
const MAX_CONTENT = 16 * 1024 * 1024;
const MAX_FILES = 2000;

export type TrustedContent = "same" | "changed" | "first";

export function digestOf(gated: readonly string[]): string {
  // Loaded only where there is something to digest: it would slow every start.
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  const walk = { hash, seen: new Set<string>(), files: 0, bytes: 0 };
  for (const path of gated) addPath(walk, path);
  return hash.digest("hex");
}

interface Walk {
  readonly hash: Hash;
  readonly seen: Set<string>;
  files: number;
  bytes: number;
}

function addPath(walk: Walk, path: string): void {
  walk.files += 1;
  if (walk.files > MAX_FILES) return;
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    walk.hash.update(`${basename(path)}\0${real}\0${stats.isFile() ? stats.size : ""}\0`);
    if (walk.seen.has(real)) return;
    walk.seen.add(real);
    if (stats.isDirectory()) {
      for (const name of readdirSync(real).sort()) addPath(walk, join(path, name));
    } else if (stats.isFile() && walk.bytes + stats.size <= MAX_CONTENT) {
      walk.bytes += stats.size;
      walk.hash.update(readFileSync(real));
    }
  } catch {
    walk.hash.update(`${basename(path)}\0missing\0`);
  }
}

/** Compares a project with the digest from when it was trusted; a damaged file knows of none. */
export async function compareTrusted(
  agentDirectory: string,
  project: string,
  digest: string,
): Promise<TrustedContent> {
  const file = await readJsonFile(digestFile(agentDirectory));
  const known = file.kind === "object" ? file.value[project] : undefined;
  if (typeof known !== "string") return "first";
  return known === digest ? "same" : "changed";
}

export async function keepTrusted(
  agentDirectory: string,
  project: string,
  digest: string,
): Promise<void> {
  await withFileLock(digestFile(agentDirectory), (path) => putDigest(path, project, digest));
}

/** Under the lock of the file. */
async function putDigest(path: string, project: string, digest: string): Promise<void> {
  const file = await readJsonFile(path);
  const known = file.kind === "object" && isJsonObject(file.value) ? file.value : {};
  const digests = Object.fromEntries([...Object.entries(known), [project, digest]]);
  await writeFileAtomic(path, `${JSON.stringify(digests, null, 2)}\n`);
}

/**
 * Runs a write of the host's own in a project, and keeps the digest of what is there afterwards. If
 * the project was not as it was trusted, what somebody else changed still has to be approved. One
 * write at a time, of all hosts: two of them must not take each other's for a stranger's.
 */
export async function keepTrustedAcross(
  { agentDirectory, project }: { agentDirectory: string; project: string },
  digest: () => string,
  write: () => Promise<void>,
): Promise<void> {
  if ((await compareTrusted(agentDirectory, project, "")) === "first") return write();
  await withFileLock(digestFile(agentDirectory), async (path) => {
    const isAsTrusted = (await compareTrusted(agentDirectory, project, digest())) === "same";
    await write();
    if (isAsTrusted) await putDigest(path, project, digest());
  });
}

function digestFile(agentDirectory: string): string {
  return join(agentDirectory, "trust-digests.json");
}
