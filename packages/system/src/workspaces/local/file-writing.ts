import { type BigIntStats, constants } from "node:fs";
import {
  access,
  type FileHandle,
  open,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { WorkspaceError, type WorkspaceWriteOptions } from "@tau-agent/rpc-protocol/workspace";
import { errorCode } from "../../base/files/error-code.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { randomHex } from "../../base/random.ts";
import { type HeldFolder, makeAndHold } from "./held-folder.ts";
import { maxFileBytes, refuseAborted } from "./local-errors.ts";
import type { Reach } from "./reach.ts";

/** A file that is being written; nothing is visible before {@link FileWriting.finish}. */
export interface FileWriting {
  append(bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  /** Discards the new content; the old file stays unchanged. */
  discard(): Promise<void>;
}

// Creating a temporary file next to the target, or renaming it over the target, is not possible:
// read-only directory, bind-mounted file, foreign owner.
const notReplaceable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EBUSY", "EXDEV", "EROFS"]);
const copyBytes = 1024 * 1024;
const maxLinks = 40;

/**
 * Starts to write a file so that a failure half-way (a full disk, a crash) leaves the old content: it
 * writes a temporary file next to the target, which then replaces the target. Links are followed; mode
 * and owner are kept. Files with several names, devices, and files in directories that do not allow
 * the replacement are written in place at the end.
 */
export async function startWriting(
  path: string,
  options: WorkspaceWriteOptions,
  reach: Reach,
): Promise<FileWriting> {
  const place = await placeOf(path, reach);
  try {
    const old = await stat(place.target, { bigint: true }).catch(ignoreMissing);
    reach.checkReal(place.real, old);
    if (old !== undefined) {
      refuseOthers(path, old);
      // Replacing the file would bypass its own permissions.
      await access(place.target, constants.W_OK);
    }
    const { mode, signal } = options;
    return await writingTo({ path, old, mode, signal, ...place });
  } catch (error) {
    await place.held?.close();
    throw error;
  }
}

interface Place {
  /** The file behind all links, as a path through its open folder if that is held. */
  readonly target: string;
  readonly real: string;
  readonly held?: HeldFolder | undefined;
}

interface WritePlan extends Place, Pick<WorkspaceWriteOptions, "mode" | "signal"> {
  readonly path: string;
  readonly old: BigIntStats | undefined;
}

async function placeOf(path: string, reach: Reach): Promise<Place> {
  const target = await followLinks(path);
  if (!reach.isLimited) return { target, real: target };
  // A folder on the path may be replaced by a link at any time, but an open folder stays the same.
  const held = await makeAndHold(dirname(target), reach);
  const name = basename(target);
  return { target: join(held.place, name), real: join(held.real, name), held };
}

function refuseOthers(path: string, old: BigIntStats): void {
  if (old.isDirectory()) throw new WorkspaceError("is_a_directory", undefined, { path });
  // The other end may never be read.
  if (old.isFIFO() || old.isSocket()) {
    throw new WorkspaceError("failed", "Not a regular file", { path });
  }
}

async function writingTo(plan: WritePlan): Promise<FileWriting> {
  const { old } = plan;
  if (old?.isFile() === false || (old?.nlink ?? 1n) > 1n) return createWritingInPlace(plan);
  try {
    return await startReplacement(plan);
  } catch (error) {
    if (isRefused(error, old)) return createWritingInPlace(plan);
    throw error;
  }
}

function isRefused(error: unknown, old: BigIntStats | undefined): boolean {
  const code = errorCode(error) ?? "";
  // A virtual file system (/proc) reports the directory as missing.
  return notReplaceable.has(code) || (code === "ENOENT" && old !== undefined);
}

async function startReplacement(plan: WritePlan): Promise<Replacement> {
  const { target, old, mode = 0o666 } = plan;
  const name = `.${basename(target).slice(0, 100)}.${randomHex(6)}.tmp`;
  const temporary = join(dirname(target), name);
  const make = () => open(temporary, "wx+", old === undefined ? mode : Number(old.mode) & 0o777);
  try {
    return createReplacement(plan, temporary, await make());
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || old !== undefined) throw error;
    await makeFolder(dirname(target));
    return createReplacement(plan, temporary, await make());
  }
}

/** Writes a file beside the target, and then replaces the target by it. */
function createReplacement(plan: WritePlan, temporary: string, file: FileHandle): FileWriting {
  let length = 0;

  async function copy(error: unknown): Promise<void> {
    if (!isRefused(error, plan.old)) throw error;
    const target = await openInPlace(plan.target);
    try {
      const part = Buffer.allocUnsafe(copyBytes);
      for (let at = 0; at < length; ) {
        const { bytesRead } = await file.read(part, 0, part.length, at);
        if (bytesRead === 0) break;
        await target.writeFile(part.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await target.close();
    }
    await unlink(temporary).catch(() => {});
  }

  const self: FileWriting = {
    async append(bytes) {
      length += bytes.length;
      refuseLarge(plan.path, length);
      await file.writeFile(bytes, { signal: plan.signal });
    },
    async finish() {
      const { old, target, held, signal } = plan;
      try {
        if (old !== undefined) await keepOwnerAndMode(file, old);
        refuseAborted(signal);
        await rename(temporary, target).catch((error: unknown) => copy(error));
      } catch (error) {
        await self.discard();
        throw error;
      }
      await file.close();
      await held?.close();
    },
    async discard() {
      await file.close().catch(() => {});
      await unlink(temporary).catch(() => {});
      await plan.held?.close();
    },
  };
  return self;
}

type Replacement = FileWriting;

/** Keeps the content in memory until it is complete, and then overwrites the old content. */
function createWritingInPlace(plan: WritePlan): FileWriting {
  const parts: Uint8Array[] = [];
  let length = 0;

  const discard = async (): Promise<void> => {
    parts.length = 0;
    await plan.held?.close();
  };

  return {
    discard,
    async append(bytes) {
      length += bytes.length;
      refuseLarge(plan.path, length);
      parts.push(bytes);
    },
    async finish() {
      try {
        refuseAborted(plan.signal);
        const file = await openInPlace(plan.target, plan.mode);
        try {
          for (const part of parts) await file.writeFile(part);
        } finally {
          await file.close();
        }
      } finally {
        await discard();
      }
    },
  };
}

function refuseLarge(path: string, length: number): void {
  if (length > maxFileBytes) throw new WorkspaceError("too_large", undefined, { path });
}

/** Does not follow a link that has replaced the file, and does not wait for the other end of a pipe. */
function openInPlace(target: string, mode = 0o666): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  return open(target, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, mode);
}

async function keepOwnerAndMode(file: FileHandle, old: BigIntStats): Promise<void> {
  const made = await file.stat();
  const [uid, gid, mode] = [Number(old.uid), Number(old.gid), Number(old.mode)];
  const isOwned = made.uid === uid && made.gid === gid;
  if (!isOwned) await file.chown(uid, gid);
  // The umask may have removed bits, and a change of owner does so, too.
  if (!isOwned || made.mode !== mode) await file.chmod(mode & 0o7777);
}

/** The file behind a path, even if a link leads to a file that does not exist yet. */
async function followLinks(path: string, depth = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || depth > maxLinks) throw error;
  }
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : followLinks(resolve(dirname(path), link), depth + 1);
}

function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) === "ENOENT") return undefined;
  throw error;
}
