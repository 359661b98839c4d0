import type { Hash } from "node:crypto";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { isOutOfReach, readJsonFile, withFileLock, writeFileAtomic } from "@tau-agent/system";
import { type Disk, hostDisk } from "../../resources/files/disk.ts";

/** Beyond this size, only names and sizes of a project's code are compared, so that a start stays fast. */
const MAX_CONTENT = 16 * 1024 * 1024;
const MAX_FILES = 2000;

export type TrustedContent = "same" | "changed" | "first";

/** @throws {WorkspaceError} when the disk cannot be reached */
export async function digestOf(
  gated: readonly string[],
  disk: Disk = hostDisk(""),
): Promise<string> {
  // Loaded only if there is something to digest, because it would slow down every start.
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  const walk: Walk = { disk, hash, seen: new Set(), files: 0, bytes: 0, ahead: new Map() };
  await addAll(walk, gated);
  return hash.digest("hex");
}

interface Walk {
  readonly disk: Disk;
  readonly hash: Hash;
  readonly seen: Set<string>;
  files: number;
  bytes: number;
  /** Files that are read ahead of the walk on a remote disk. */
  readonly ahead: Map<string, Promise<Found>>;
}

interface Found {
  readonly stats: WorkspaceStat;
  readonly names: () => Promise<readonly string[]>;
  readonly bytes: () => Promise<Uint8Array>;
}

async function addAll(walk: Walk, paths: readonly string[]): Promise<void> {
  if (walk.disk.isFar) for (const path of paths) lookAhead(walk, path);
  for (const path of paths) await addPath(walk, path);
}

/** Files count in the order of the walk, so that the digest is the same on every machine. */
async function addPath(walk: Walk, path: string): Promise<void> {
  walk.files += 1;
  if (walk.files > MAX_FILES) return;
  const { hash, disk, seen } = walk;
  const name = disk.path.basename(path);
  try {
    const { stats, names, bytes } = await (walk.ahead.get(path) ?? look(disk, path));
    const { kind, size, realPath = path } = stats;
    hash.update(`${name}\0${realPath}\0${kind === "file" ? size : ""}\0`);
    if (seen.has(realPath)) return;
    seen.add(realPath);
    if (kind === "directory") {
      const inside = await names();
      await addAll(
        walk,
        inside.map((each) => disk.path.join(path, each)),
      );
    } else if (kind === "file" && walk.bytes + size <= MAX_CONTENT) {
      walk.bytes += size;
      hash.update(await bytes());
    }
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    hash.update(`${name}\0missing\0`);
  }
}

async function look(disk: Disk, path: string): Promise<Found> {
  const stats = await disk.files.stat(path);
  if (stats === undefined) throw new Error(`There is nothing at ${path}`);
  const real = stats.realPath ?? path;
  return {
    stats,
    names: async () => (await disk.files.list(real)).map(({ name }) => name).sort(),
    bytes: () => disk.files.read(real),
  };
}

/** Starts to look at a path and read it, within the limits. */
function lookAhead(walk: Walk, path: string): void {
  if (walk.files + walk.ahead.size >= MAX_FILES) return;
  const { files } = walk.disk;
  const asked = [
    files.list(path).then((entries) => entries.map(({ name }) => name).sort()),
    files.read(path, { length: MAX_CONTENT }),
  ] as const;
  for (const each of asked) each.catch(() => {});
  const found = look(walk.disk, path).then(({ stats }) => ({
    stats,
    names: () => asked[0],
    bytes: () => asked[1],
  }));
  found.catch(() => {});
  walk.ahead.set(path, found);
}

/** Compares a project with the digest from when it was trusted; a damaged file counts as having none. */
export async function compareTrusted(
  { digests, project }: DigestPlace,
  digest: string,
): Promise<TrustedContent> {
  const file = await readJsonFile(digests);
  const known = file.kind === "object" ? file.value[project] : undefined;
  if (typeof known !== "string") return "first";
  return known === digest ? "same" : "changed";
}

/** Where the digest of a project is stored. */
export interface DigestPlace {
  /** The file. */
  readonly digests: string;
  /** The project's key in the file. */
  readonly project: string;
}

export async function keepTrusted(place: DigestPlace, digest: string): Promise<void> {
  await withFileLock(place.digests, (path) => putDigest({ ...place, digests: path }, digest));
}

/** The caller holds the lock of the file. */
async function putDigest({ digests: path, project }: DigestPlace, digest: string): Promise<void> {
  const file = await readJsonFile(path);
  const known = file.kind === "object" && isJsonObject(file.value) ? file.value : {};
  const digests = Object.fromEntries([...Object.entries(known), [project, digest]]);
  await writeFileAtomic(path, `${JSON.stringify(digests, null, 2)}\n`);
}

/**
 * Runs the host's own write in a project, and stores the new digest. If the project had already
 * changed since it was trusted, the old digest stays, so that the changes must still be approved.
 * Hosts write one at a time, because one could mistake another's write for a stranger's.
 */
export async function keepTrustedAcross(
  place: DigestPlace,
  digest: () => Promise<string>,
  write: () => Promise<void>,
): Promise<void> {
  if ((await compareTrusted(place, "")) === "first") return write();
  await withFileLock(place.digests, async (path) => {
    const locked = { ...place, digests: path };
    const isAsTrusted = (await compareTrusted(locked, await digest())) === "same";
    await write();
    if (isAsTrusted) await putDigest(locked, await digest());
  });
}
