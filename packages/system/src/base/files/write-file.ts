import { open, rename, rm, stat } from "node:fs/promises";
import { randomHex } from "../random.ts";

/**
 * Replaces `path` in one step; readers see the old or the new text. The text may come in pieces. An
 * existing file keeps its mode, a new one gets 0600.
 */
export async function writeFileAtomic(
  path: string,
  text: string | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${path}.${randomHex(6)}.tmp`;
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
