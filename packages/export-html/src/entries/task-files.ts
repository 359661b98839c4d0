import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileNameOf, subagentFolders } from "@tau-agent/sessions/files";

interface TaskFile {
  readonly text: string;
  readonly isCut: boolean;
}

export interface TaskFiles {
  /** The beginning of a file by its path in a result; undefined if there is no such file. */
  read(path: unknown, kind: ".patch" | ".log", maxBytes: number): Promise<TaskFile | undefined>;
}

/** Reads files in the folders beside a session's file; no other file on the disk gets into a page. */
export function taskFilesOf(
  sessionPath: string | undefined,
  parentSession: string | undefined,
): TaskFiles {
  const folders = subagentFolders({ path: sessionPath, header: { parentSession } });
  return {
    async read(path, kind, maxBytes) {
      if (typeof path !== "string" || !path.endsWith(kind)) return undefined;
      const places = sessionPath === undefined ? temporaryFolder(path) : folders;
      for (const folder of places) {
        const found = await readStart(join(folder, fileNameOf(path)), maxBytes);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

/** The temporary folder of a call, for tasks of a session without a file. */
function temporaryFolder(path: string): string[] {
  const folder = dirname(path);
  return /^tau-tasks-[\da-f]+$/.test(basename(folder)) ? [folder] : [];
}

async function readStart(path: string, maxBytes: number): Promise<TaskFile | undefined> {
  let file: FileHandle;
  try {
    // A link could lead anywhere, and reading a pipe would wait for its writer.
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    const bytes = buffer.subarray(0, Math.min(bytesRead, maxBytes));
    return { text: bytes.toString("utf8"), isCut: bytesRead > maxBytes };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
