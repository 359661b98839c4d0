import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";

/** Larger files are left to the thread pool: reading them here would block everything else. */
const MAX_BYTES = 256 * 1024;

/**
 * Reads a small regular file synchronously; undefined for any other file, including kernel files, which
 * report no size and may block. Each step in the thread pool costs five times the system calls of the
 * step itself (row "`read` turn: system calls").
 *
 * @param check throws for an opened file that must not be read; gets its stats
 * @throws the file system's error if there is no such file
 */
export function readSmallFile(
  path: string,
  check?: (descriptor: number, found: BigIntStats) => void,
): Buffer | undefined {
  if (!isSmall(statSync(path))) return undefined;
  // Windows has neither this flag nor files that block.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(descriptor, { bigint: true });
    check?.(descriptor, found);
    if (!isSmall(found)) return undefined;
    // One byte more than the expected size: a read that does not fill the buffer has reached the end.
    const bytes = Buffer.allocUnsafe(Number(found.size) + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      length += count;
      if (length === bytes.length) return undefined;
      if (count === 0 || length >= found.size) return bytes.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function isSmall(found: Stats | BigIntStats): boolean {
  return found.isFile() && found.size > 0 && found.size <= MAX_BYTES;
}
