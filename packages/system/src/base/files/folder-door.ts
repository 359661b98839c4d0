import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { attempt } from "../attempt.ts";
import { ClosedFiles } from "./closed-files.ts";
import { errorCode } from "./error-code.ts";
import { heldPath } from "./opened-path.ts";

/** The path leads elsewhere than expected; the message says why. */
export class DoorError extends Error {
  override readonly name = "DoorError";
}

export interface OpenedFile {
  readonly content: Buffer;
  readonly stats: Stats;
}

interface HeldFolder {
  readonly name: string;
  readonly descriptor: number;
}

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** Opens without reading, even what may not be read. Only for systems where a descriptor has a path. */
const O_PATH = 0o10000000;
const hasDescriptorPaths = process.platform === "linux" && existsSync(heldPath(0));

/**
 * The host's only way to work on files of a folder that commands may change at the same time. No link
 * below the root is followed: each folder on the path is opened from its parent, held open, and checked
 * after opening, so a folder that is swapped meanwhile cannot lead elsewhere. On systems without paths
 * for open folders, the path is checked right before each step.
 *
 * Paths are relative to the root; each character is one byte. All work is synchronous.
 */
export class FolderDoor implements Disposable {
  readonly closed: ClosedFiles;
  /** The kernel's path of the root, where folders are held open. */
  readonly #root: Buffer;
  readonly #held: HeldFolder[] = [];

  /**
   * @param root a real path
   * @param closed real paths that must not be read
   * @throws {DoorError} the path of the root contains a link
   */
  constructor(root: string, closed: readonly string[] = []) {
    this.closed = new ClosedFiles(root, closed);
    this.#root = Buffer.from(root);
    if (!hasDescriptorPaths) return;
    const descriptor = openSync(root, O_PATH | O_DIRECTORY);
    this.#held.push({ name: "", descriptor });
    this.#root = readlinkSync(heldPath(descriptor), { encoding: "buffer" });
    if (this.#root.equals(Buffer.from(root))) return;
    this[Symbol.dispose]();
    throw new DoorError("the folder is elsewhere");
  }

  list(folder: string): string[] {
    return readdirSync(this.#enter(folder), { encoding: "latin1" });
  }

  /**
   * The names in a folder with their stats. Enters the folder once, and checks afterwards that it is still in place.
   */
  lookInside(folder: string): { readonly name: string; readonly stats: Stats | undefined }[] {
    const place = this.#enter(folder);
    const names = readdirSync(place, { encoding: "latin1" });
    const text = place.toString();
    const found = names.map((name) => ({
      name,
      stats: attempt(() => lstatSync(placeIn(place, text, name), { throwIfNoEntry: false })),
    }));
    this.#enter(folder);
    return found;
  }

  /** The stats of a path; undefined if nothing is there. */
  look(path: string): Stats | undefined {
    return this.#look(path, (place) => lstatSync(place, { throwIfNoEntry: false }));
  }

  /** Whether a file is closed by its path or is another name (hard link) of a closed file. */
  isClosed(path: string, stats?: Stats): boolean {
    if (this.closed.hasPath(path)) return true;
    if (stats?.isFile() !== true || stats.nlink < 2) return false;
    const options = { throwIfNoEntry: false, bigint: true } as const;
    const found = this.#look<BigIntStats>(path, (place) => lstatSync(place, options));
    return found !== undefined && this.closed.hasFile(found);
  }

  /**
   * Reads a plain file.
   *
   * @throws {DoorError} it is another kind of file, too large, or closed
   */
  read(path: string, maxBytes = Number.POSITIVE_INFINITY): OpenedFile {
    const file = openSync(this.#place(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw new DoorError("it is not a plain file");
      if (stats.size > maxBytes) throw new DoorError("it is too large");
      const isClosed = this.closed.hasPath(path) || this.closed.hasFile(fstatSync(file, bigint));
      if (isClosed) throw new DoorError("it may not be read");
      return { content: readFileSync(file), stats };
    } finally {
      closeSync(file);
    }
  }

  readLink(path: string): Buffer {
    return readlinkSync(this.#place(path), { encoding: "buffer" });
  }

  /**
   * Puts a new file at a path in one step, using `temporaryName` in the same folder until then. Missing
   * folders are made.
   */
  write(path: string, content: Buffer, options: { mode: number; temporaryName: string }): void {
    this.#replace(path, options.temporaryName, (temporary) => {
      const file = openSync(temporary, "wx", 0o600);
      try {
        writeFileSync(file, content);
        fchmodSync(file, options.mode);
      } finally {
        closeSync(file);
      }
    });
  }

  /** Puts a link at a path in the same way as {@link write}. */
  writeLink(path: string, target: Buffer, temporaryName: string): void {
    this.#replace(path, temporaryName, (temporary) => symlinkSync(target, temporary));
  }

  setMode(path: string, mode: number): void {
    const flags = hasDescriptorPaths ? O_PATH : O_RDONLY | O_NONBLOCK;
    const file = openSync(this.#place(path), flags | O_NOFOLLOW);
    try {
      if (!fstatSync(file).isFile()) throw new DoorError("it is not a plain file");
      if (hasDescriptorPaths) chmodSync(heldPath(file), mode);
      else fchmodSync(file, mode);
    } finally {
      closeSync(file);
    }
  }

  setTimes(path: string, accessed: Date, changed: Date): void {
    lutimesSync(this.#place(path), accessed, changed);
  }

  remove(path: string): void {
    unlinkSync(this.#place(path));
  }

  /** Removes a folder; fails if it is not empty. */
  removeFolder(path: string): void {
    rmdirSync(this.#place(path));
  }

  makeFolder(path: string): void {
    const names = path === "" ? [] : path.split("/");
    names.forEach((_, index) => {
      const folder = names.slice(0, index + 1).join("/");
      try {
        mkdirSync(this.#place(folder));
      } catch (error) {
        if (errorCode(error) !== "EEXIST") throw error;
      }
      this.#enter(folder);
    });
  }

  /** The path of a folder, which is made if missing. Valid until the door is used for another folder. */
  hold(folder: string): string {
    this.makeFolder(folder);
    return this.#enter(folder).toString();
  }

  /** Moves a file, link or folder out of the folder, on the same file system. */
  moveOut(path: string, target: string): void {
    renameSync(this.#place(path), target);
  }

  /** Gives a file a second name (hard link) outside of the folder. */
  linkOut(path: string, target: string): void {
    linkSync(this.#place(path), target);
  }

  /** Gives a file outside of the folder a second name (hard link) in it. */
  linkIn(source: string, path: string): void {
    linkSync(source, this.#place(path));
  }

  [Symbol.dispose](): void {
    for (const { descriptor } of this.#held.splice(0)) closeSync(descriptor);
  }

  #replace(path: string, temporaryName: string, make: (temporary: Buffer) => void): void {
    const { folder } = partsOf(path);
    this.makeFolder(folder);
    const temporary = this.#place(folder === "" ? temporaryName : `${folder}/${temporaryName}`);
    const place = this.#place(path);
    rmSync(temporary, { force: true });
    try {
      make(temporary);
      renameSync(temporary, place);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  #look<Found>(path: string, look: (place: Buffer) => Found | undefined): Found | undefined {
    try {
      return look(this.#place(path));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** A path that goes only through folders that are held open. */
  #place(path: string): Buffer {
    const { folder, name } = partsOf(path);
    return joined(this.#enter(folder), name);
  }

  /** The path of a folder, after checking that no link is on the way. */
  #enter(folder: string): Buffer {
    if (!hasDescriptorPaths) return this.#checked(folder);
    const names = folder === "" ? [] : folder.split("/");
    if (names.some(isNoName)) throw new DoorError("its path leads elsewhere");
    let depth = 0;
    while (depth < names.length && this.#held[depth + 1]?.name === names[depth]) depth += 1;
    for (const { descriptor } of this.#held.splice(depth + 1)) closeSync(descriptor);
    for (const name of names.slice(depth)) {
      const place = joined(this.#last, name);
      this.#held.push({ name, descriptor: openFolder(place) });
    }
    const real = readlinkSync(this.#last, { encoding: "buffer" });
    // A folder that was moved is no longer where it was found.
    const isThere = real.equals(folder === "" ? this.#root : joined(this.#root, folder));
    if (isThere) return this.#last;
    for (const { descriptor } of this.#held.splice(1)) closeSync(descriptor);
    throw new DoorError("the folder above it is elsewhere");
  }

  get #last(): Buffer {
    return Buffer.from(heldPath(this.#held.at(-1)?.descriptor ?? -1));
  }

  #checked(folder: string): Buffer {
    const names = folder === "" ? [] : folder.split("/");
    if (names.some(isNoName)) throw new DoorError("its path leads elsewhere");
    let place = this.#root;
    for (const name of names) {
      place = joined(place, name);
      refuseOther(lstatSync(place));
    }
    const real = realpathSync(place, { encoding: "buffer" });
    if (!real.equals(place) && process.platform !== "win32") {
      throw new DoorError("the folder above it is elsewhere");
    }
    return place;
  }
}

const bigint = { bigint: true } as const;

function openFolder(place: Buffer): number {
  try {
    return openSync(place, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") refuseOther(lstatSync(place));
    throw error;
  }
}

function refuseOther(found: Stats): void {
  if (found.isSymbolicLink()) throw new DoorError("a folder above it is a symbolic link");
  if (!found.isDirectory()) throw new DoorError("a folder above it is a file now");
}

function isNoName(name: string): boolean {
  return name === "" || name === "." || name === ".." || name.includes("\0");
}

function partsOf(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf("/");
  const name = path.slice(at + 1);
  if (isNoName(name)) throw new DoorError("its path leads elsewhere");
  return { folder: path.slice(0, Math.max(0, at)), name };
}

/** Most names are the same in every encoding, and strings are faster than bytes. */
function placeIn(folder: Buffer, text: string, name: string): string | Buffer {
  return isAscii.test(name) ? `${text}/${name}` : joined(folder, name);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are names as well
const isAscii = /^[\x00-\x7f]*$/;

function joined(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), Buffer.from(name, "latin1")]);
}
