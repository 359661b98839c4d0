import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { encodeLine, SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";

const BATCH_ENTRIES = 1000;

/**
 * Replaces an older file with its version 3 form: written beside it, flushed, then renamed, so that
 * a crash leaves one of the two intact.
 *
 * @returns the size of the new file in bytes
 */
export function rewriteSessionFile(
  path: string,
  header: SessionHeader,
  entries: readonly SessionEntry[],
): number {
  const target = realpathSync(path);
  const temporary = `${target}.migrating-${process.pid}`;
  const file = openSync(temporary, "wx", statSync(target).mode & 0o777);
  let sizeBytes = 0;
  const write = (text: string): void => {
    // Unlike `writeSync`, this never writes only a part when the disk is nearly full.
    writeFileSync(file, text);
    sizeBytes += Buffer.byteLength(text);
  };
  try {
    write(encodeLine({ ...header, version: SESSION_VERSION }));
    for (let start = 0; start < entries.length; start += BATCH_ENTRIES) {
      const batch = entries.slice(start, start + BATCH_ENTRIES);
      write(batch.map(encodeLine).join(""));
    }
    fsyncSync(file);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, target);
  return sizeBytes;
}
