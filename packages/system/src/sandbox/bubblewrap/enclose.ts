import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../../base/files/error-code.ts";
import { SandboxStartError } from "../../processes/process-error.ts";
import { isBareRepository, protectedPlaces } from "../paths/protected-places.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { closedSockets, type MountPlan, mountsOf } from "./mounts.ts";
import type { Placeholders } from "./placeholders.ts";

/** A run in bubblewrap: the arguments before the command, and what to call afterwards. */
export interface BubblewrapRun {
  readonly args: readonly string[];
  readonly release: () => Promise<void>;
}

/** Prepares a run; `cwd` is the folder in which it starts, as a path inside. */
export async function encloseInBubblewrap(
  plan: MountPlan & { readonly start: string },
  placeholders: Placeholders,
): Promise<BubblewrapRun> {
  const { hasNetwork, isReadOnly, paths, start } = plan;
  const { cwd, hostNamed, treeRepository } = paths;
  const isOrdinary = !isReadOnly && !isBareRepository(cwd);
  const taken = isReadOnly
    ? undefined
    : await placeholders.take((isPlaceholder) =>
        protectedPlaces(cwd, hostNamed, { treeRepository, isPlaceholder }),
      );
  const places = taken?.places;
  try {
    const links = (places?.links ?? []).map((path) => ({ path, target: readlinkSync(path) }));
    const closed = closedSockets(plan);
    const sockets = closed.filter((path) => lstatSync(path, missingIsFine)?.isSocket());
    const mounts = [
      ...mountsOf(plan, closed),
      // A mount cannot be renamed away, so folders around protected places are mounts, too.
      ...(places?.kept ?? []).map((path) => ({ kind: "writable", path }) as const),
      ...(places?.readOnly ?? []).map((path) => ({ kind: "readOnly", path }) as const),
    ];
    return {
      args: bubblewrapArguments({ cwd: start, mounts, hasNetwork }),
      release: async () => {
        try {
          for (const { path, target } of links) putBack(path, target);
          for (const path of sockets) removeStandIn(path);
          if (isOrdinary) setAside(cwd);
        } finally {
          await taken?.release();
        }
      },
    };
  } catch (error) {
    await taken?.release();
    // Other programs may remove and replace files while they are listed.
    if (!/^(?:ENOENT|ENOTDIR|EINVAL)$/.test(errorCode(error) ?? "")) throw error;
    throw new SandboxStartError(errorMessage(error), { cause: error });
  }
}

const missingIsFine = { throwIfNoEntry: false } as const;

/**
 * If a socket closes before bubblewrap mounts over it, bubblewrap makes an empty file in its place, if the
 * folder is writable. No program could listen there any more.
 */
function removeStandIn(path: string): void {
  const status = lstatSync(path, missingIsFine);
  const isStandIn = status?.isFile() && status.size === 0 && (status.mode & 0o777) === 0o444;
  if (isStandIn) rmSync(path, { force: true });
}

/** A command made the folder itself a repository, whose settings git would follow outside. */
function setAside(folder: string): void {
  if (!isBareRepository(folder)) return;
  rmSync(join(folder, "HEAD.refused"), { recursive: true, force: true });
  renameSync(join(folder, "HEAD"), join(folder, "HEAD.refused"));
}

/** Restores a link that a command replaced: nothing can be mounted over a link. */
function putBack(path: string, target: string): void {
  try {
    if (readlinkSync(path) === target) return;
  } catch {
    // It is no longer a link.
  }
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}
