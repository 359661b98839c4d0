import { readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isBareRepository, protectedPlaces } from "../paths/protected-places.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { type MountPlan, mountsOf } from "./mounts.ts";
import type { Placeholders } from "./placeholders.ts";

/** A run in bubblewrap: what comes before the command, and what to call after it. */
export interface BubblewrapRun {
  readonly args: readonly string[];
  readonly release: () => Promise<void>;
}

/** Prepares a run; `cwd` is the folder it starts in, as it is called inside. */
export async function encloseInBubblewrap(
  plan: MountPlan & { readonly start: string },
  placeholders: Placeholders,
): Promise<BubblewrapRun> {
  const { hasNetwork, isReadOnly, paths, start } = plan;
  const { cwd, gitNamed, treeRepository } = paths;
  const isOrdinary = !isReadOnly && !isBareRepository(cwd);
  const taken = isReadOnly
    ? undefined
    : await placeholders.take((isPlaceholder) =>
        protectedPlaces(cwd, gitNamed, { treeRepository, isPlaceholder }),
      );
  const places = taken?.places;
  try {
    const links = (places?.links ?? []).map((path) => ({ path, target: readlinkSync(path) }));
    const mounts = [
      ...mountsOf(plan),
      // A mount cannot be renamed away, so folders around what is protected are mounts, too.
      ...(places?.kept ?? []).map((path) => ({ kind: "writable", path }) as const),
      ...(places?.readOnly ?? []).map((path) => ({ kind: "readOnly", path }) as const),
    ];
    return {
      args: bubblewrapArguments({ cwd: start, mounts, hasNetwork }),
      release: async () => {
        for (const { path, target } of links) putBack(path, target);
        if (isOrdinary) setAside(cwd);
        await taken?.release();
      },
    };
  } catch (error) {
    await taken?.release();
    throw error;
  }
}

/** A command made the folder itself a repository, whose settings git would run outside. */
function setAside(folder: string): void {
  if (!isBareRepository(folder)) return;
  rmSync(join(folder, "HEAD.refused"), { recursive: true, force: true });
  renameSync(join(folder, "HEAD"), join(folder, "HEAD.refused"));
}

/** A link that a command exchanged leads again to where it did: nothing can be mounted over a link. */
function putBack(path: string, target: string): void {
  try {
    if (readlinkSync(path) === target) return;
  } catch {
    // It is not a link any more.
  }
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}
