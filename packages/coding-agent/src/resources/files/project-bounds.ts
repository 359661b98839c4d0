import { realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import type { WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "@tau-agent/system";
import type { Disk } from "./disk.ts";
import { farLayoutOf } from "./far-layout.ts";
import { ancestorsOf, type ResourceDirs } from "./places.ts";

export interface TextBounds {
  /** The project and, if it is inside one, its repository; paths as given and with links resolved. */
  readonly named: readonly string[];
  readonly real: readonly string[];
  readonly agentDirectory: string;
  /** The user id of this process; undefined if files have no owners, or if they are unknown. */
  readonly user: number | undefined;
  /** World-writable folders above a remote project, where file owners are unknown. */
  readonly open: ReadonlySet<string>;
  /** The disk of the project. */
  readonly disk: Disk | undefined;
}

type BoundDirs = Pick<ResourceDirs, "cwd" | "agentDirectory" | "homeDirectory" | "disk">;

/** Finds out which folders belong to a project. This reads a few folders, so it is done once per load. */
export async function textBoundsOf(dirs: BoundDirs): Promise<TextBounds> {
  return dirs.disk === undefined ? textBoundsNow(dirs) : boundsElsewhere(dirs, dirs.disk);
}

/** {@link textBoundsOf} for a project on this machine. */
export function textBoundsNow({
  cwd,
  agentDirectory,
  homeDirectory,
}: Omit<BoundDirs, "disk">): TextBounds {
  const user = process.geteuid?.();
  const root = repositoryOf(cwd, user);
  // A home directory under version control does not make its whole content part of each project.
  const isHome = root !== undefined && isWithin(realOf(homeDirectory), realOf(root), sep);
  const named = root === undefined || isHome ? [cwd] : [cwd, root];
  return {
    named,
    real: named.map(realOf),
    agentDirectory: realOf(agentDirectory),
    user,
    open: new Set(),
    disk: undefined,
  };
}

/** In a workspace, the mode of a folder tells whether another user may have created its files. */
async function boundsElsewhere(
  { cwd, agentDirectory }: BoundDirs,
  disk: Disk,
): Promise<TextBounds> {
  const { dirs, folders, markers, home } = await farLayoutOf(disk, cwd);
  const isOpen = (found: WorkspaceStat | undefined) => ((found?.mode ?? 0) & 0o002) !== 0;
  const open = new Set(dirs.filter((_, index) => index > 0 && isOpen(folders[index])));
  const real = (dir: string) => folders[dirs.indexOf(dir)]?.realPath ?? dir;
  const nearest = dirs.find((_, index) => markers[index] !== undefined);
  const root = nearest !== undefined && open.has(nearest) ? undefined : nearest;
  const realHome = home?.realPath ?? disk.homeDirectory;
  const isHome = root !== undefined && isWithin(realHome, real(root), disk.path.sep);
  const [top = cwd] = dirs;
  const named = root === undefined || isHome ? [top] : [top, root];
  return {
    named,
    real: named.map(real),
    agentDirectory: realOf(agentDirectory),
    user: undefined,
    open,
    disk,
  };
}

/** The folder of the nearest `.git`, unless another user put it above the project. */
function repositoryOf(cwd: string, user: number | undefined): string | undefined {
  for (const dir of ancestorsOf(cwd)) {
    const marker = statSync(`${dir}${sep}.git`, { throwIfNoEntry: false });
    if (marker === undefined) continue;
    if (user === undefined) return dir;
    const owners = [user, 0, statSync(cwd, { throwIfNoEntry: false })?.uid];
    return owners.includes(marker.uid) ? dir : undefined;
  }
  return undefined;
}

export function isWithin(path: string, folder: string, separator: string): boolean {
  const inside = folder.endsWith(separator) ? folder : `${folder}${separator}`;
  return path === folder || path.startsWith(inside);
}

function realOf(path: string): string {
  return attempt(() => realpathSync(path)) ?? path;
}
