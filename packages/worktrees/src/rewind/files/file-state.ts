import { foldersAbove } from "../../git/file-names.ts";

/** The state of a path. A folder counts only while it is empty: other folders exist because of their files. */
export interface FileState {
  readonly kind: "file" | "link" | "folder";
  /** The permission bits of a file; 0 for links and folders. */
  readonly mode: number;
  /** The id of the content, or of the target of a link. */
  readonly id: string;
}

export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

export interface FoundFile extends FileState {
  readonly stamp: FileStamp;
}

/** Whether the two states are the same, so that nothing needs to be done. */
export function isSame(one: FileState | undefined, other: FileState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.kind === other.kind && one.mode === other.mode && one.id === other.id;
}

export function hasSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs &&
    one.ino === other.ino
  );
}

export function isLeftOut(path: string, leftOut: ReadonlySet<string>): boolean {
  if (leftOut.size === 0) return false;
  return leftOut.has(path) || foldersAbove(path).some((folder) => leftOut.has(folder));
}
