import { type BigIntStats, fstatSync, realpathSync, statSync } from "node:fs";
import { WorkspaceError, type WorkspaceReach } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import { openedPath } from "../../base/files/opened-path.ts";
import { keyFileText, type ProtectedFiles } from "../../base/files/protected-files.ts";
import { realPlaceOf } from "../../base/files/real-place.ts";

/** What a local workspace may open in any call. */
export interface OuterReach {
  /** The only folders in which files may be opened. */
  readonly roots?: readonly string[] | undefined;
  /** Files that are never opened, whatever name leads to them. */
  readonly protectedFiles?: ProtectedFiles | undefined;
}

const bigint = { bigint: true } as const;

/** Checks what a call may open, judging by the file that was actually opened. */
export function createReach(outer: OuterReach, within: WorkspaceReach | undefined) {
  const { protectedFiles } = outer;
  const isLimited = within !== undefined || outer.roots !== undefined;
  let names: WorkspaceReach | undefined;

  function check(real: string, found: BigIntStats | undefined): void {
    if (!isOpen(real, found)) throw refused(real);
  }

  function isOpen(real: string, found: BigIntStats | undefined): boolean {
    const { roots } = outer;
    if (roots !== undefined && !bothNames(roots).some((each) => isInside(each, real))) return false;
    if (within === undefined) return true;
    // Computed once per call: a search checks each of its results.
    names ??= { allow: bothNames(within.allow), deny: bothNames(within.deny) };
    const { allow, deny } = names;
    return (
      allow.some((each) => isInside(each, real)) &&
      !deny.some((each) => isInside(each, real) || isSameFile(each, found))
    );
  }

  /**
   * Checks a real path of something that exists or is about to be made.
   *
   * @throws {WorkspaceError} the path is outside
   */
  function checkReal(real: string, found?: BigIntStats): void {
    if (protectedFiles?.includes(real, found)) throw refused(real, keyFileText);
    if (isLimited) check(real, found);
  }

  return {
    /** Whether real paths need to be determined. */
    isLimited,
    checkReal,
    /**
     * Checks an open file or folder.
     *
     * @param path the path that was opened
     * @param stats the stats of the descriptor, if they are known
     * @throws {WorkspaceError} the file or folder is outside
     */
    checkOpened(descriptor: number, path: string, stats?: BigIntStats): void {
      if (!isLimited && protectedFiles === undefined) return;
      const found = stats ?? fstatSync(descriptor, bigint);
      if (protectedFiles?.includes(path, found)) throw refused(path, keyFileText);
      if (!isLimited) return;
      check(realPathOfOpened(descriptor, path, found), found);
    },
    /** Checks the target of a path. */
    checkPath(path: string): void {
      const real = realPlaceOf(path);
      checkReal(real, statOf(real));
    },
    /** Whether a search result may be shown. */
    mayShow(real: string): boolean {
      if (protectedFiles === undefined && !isLimited) return true;
      const found = statOf(real);
      return protectedFiles?.includes(real, found) !== true && isOpen(real, found);
    },
  };
}

export type Reach = ReturnType<typeof createReach>;

/** Each place under its given path and its real path. */
function bothNames(places: readonly string[]): readonly string[] {
  return [...new Set(places.flatMap((place) => [place, realPlaceOf(place)]))];
}

/** Whether the path is another name (hard link) of the same file. */
function isSameFile(path: string, found: BigIntStats | undefined): boolean {
  if (found?.isFile() !== true || found.nlink < 2n) return false;
  const other = statOf(path);
  return other?.dev === found.dev && other.ino === found.ino;
}

function statOf(path: string): BigIntStats | undefined {
  return attempt(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
}

function realPathOfOpened(descriptor: number, path: string, found: BigIntStats): string {
  const opened = openedPath(descriptor);
  if (opened !== undefined)
    return found.nlink === 0n ? opened.replace(/ \(deleted\)$/, "") : opened;
  // Without `/proc`, the path itself, if it still leads to the same file.
  const real = realpathSync.native(path);
  const now = statOf(real);
  if (now?.dev === found.dev && now.ino === found.ino) return real;
  throw refused(real);
}

function refused(path: string, text?: string): WorkspaceError {
  return new WorkspaceError("not_allowed", text, { path });
}
