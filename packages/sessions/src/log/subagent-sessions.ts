import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { readLoggedFile } from "./read-logged-file.ts";
import type { ReadLog } from "./session-home.ts";

/** The facts about a session that lead to its subagents' files. */
export interface CallerFile {
  /** Undefined for a session without a file. */
  readonly path: string | undefined;
  readonly header: Pick<SessionHeader, "parentSession">;
}

/**
 * The folders with the files of a session's subagents: its own, and that of the session from which it
 * was copied. Anyone may have written the path in a session, so only the file name counts, and no other
 * folders are read. This also finds the files of a session that was moved.
 */
export function subagentFolders({ path, header: { parentSession } }: CallerFile): string[] {
  if (path === undefined) return [];
  return [path, join(dirname(path), fileNameOf(parentSession ?? ""))]
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => file.replace(/\.jsonl$/, ""));
}

/** The last part of a path in the notation of any system. */
export function fileNameOf(path: string): string {
  return basename(path.replaceAll("\\", "/"));
}

/** Reads the session of a subagent by the file named in a result; undefined if it does not exist. */
export async function readSubagentFile(
  caller: CallerFile,
  sessionFile: string,
): Promise<ReadLog | undefined> {
  const name = fileNameOf(sessionFile);
  if (!name.endsWith(".jsonl")) return undefined;
  for (const folder of subagentFolders(caller)) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    // A link could lead anywhere, and reading a pipe would wait for its writer.
    if (found?.isFile()) return readLoggedFile(path).catch(() => undefined);
  }
  return undefined;
}
