import { type BigIntStats, fstatSync, realpathSync, statSync } from "node:fs";
import { WorkspaceError, type WorkspaceReach } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import { openedPath } from "../../base/files/opened-path.ts";
import { keyFileText, type ProtectedFiles } from "../../base/files/protected-files.ts";
import { realPlaceOf } from "../../base/files/real-place.ts";

/** What a local workspace may open in any call. */
export interface OuterReach {
  /** Nothing outside of these folders is opened. */
  readonly roots?: readonly string[] | undefined;
  /** Files that are never opened, by any name. */
  readonly protectedFiles?: ProtectedFiles | undefined;
}

const bigint = { bigint: true } as const;

/** Judges by what was opened what a call may open. */
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
    // Once for a call: a search judges each of its results.
    names ??= { allow: bothNames(within.allow), deny: bothNames(within.deny) };
    const { allow, deny } = names;
    return (
      allow.some((each) => isInside(each, real)) &&
      !deny.some((each) => isInside(each, real) || isSameFile(each, found))
    );
  }

  /**
   * For something that is known by its real path, or that will be made there.
   *
   * @throws {WorkspaceError} it is outside
   */
  function checkReal(real: string, found?: BigIntStats): void {
    if (protectedFiles?.includes(real, found)) throw refused(real, keyFileText);
    if (isLimited) check(real, found);
  }

  return {
    /** Whether real paths have to be known. */
    isLimited,
    checkReal,
    /**
     * For a file or folder that is open.
     *
     * @param path by which it was opened
     * @throws {WorkspaceError} it is outside
     */
    checkOpened(descriptor: number, path: string): void {
      if (!isLimited && protectedFiles === undefined) return;
      const found = fstatSync(descriptor, bigint);
      if (protectedFiles?.includes(path, found)) throw refused(path, keyFileText);
      if (!isLimited) return;
      check(realPathOfOpened(descriptor, path, found), found);
    },
    /** For what a path leads to. */
    checkPath(path: string): void {
      const real = realPlaceOf(path);
      checkReal(real, statOf(real));
    },
    /** Whether what a search finds may be shown. */
    mayShow(real: string): boolean {
      if (protectedFiles === undefined && !isLimited) return true;
      const found = statOf(real);
      return protectedFiles?.includes(real, found) !== true && isOpen(real, found);
    },
  };
}

export type Reach = ReturnType<typeof createReach>;

/** Places by both of their names. */
function bothNames(places: readonly string[]): readonly string[] {
  return [...new Set(places.flatMap((place) => [place, realPlaceOf(place)]))];
}

/** By another name: a hard link. */
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
  // Without `/proc`: the path, if it still leads to the same file.
  const real = realpathSync.native(path);
  const now = statOf(real);
  if (now?.dev === found.dev && now.ino === found.ino) return real;
  throw refused(real);
}

function refused(path: string, text?: string): WorkspaceError {
  return new WorkspaceError("not_allowed", text, { path });
}
