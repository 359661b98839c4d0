import { dirname } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { isInside, makeFolder, systemReason, writeFileAtomic } from "@tau-agent/system";
import { pageTarget } from "./page-target.ts";

export interface WriteOptions {
  /** A folder that commands can change: links in it are not followed for a file inside. */
  readonly changeable?: string | undefined;
}

/**
 * Writes the export of a session in one step (mode 0600 when new) and creates missing directories.
 *
 * @throws {SessionError} `nothing_to_export`, or `export_failed` when the file cannot be written.
 */
export async function writeExport(
  pieces: AsyncIterable<string | Uint8Array>,
  path: string,
  { changeable = "" }: WriteOptions = {},
): Promise<void> {
  try {
    const isInThere = changeable !== "" && isInside(changeable, dirname(path));
    if (!isInThere) await makeFolder(dirname(path));
    using target = await pageTarget(path, isInThere ? changeable : undefined);
    await writeFileAtomic(target.path, pieces);
  } catch (error) {
    if (error instanceof SessionError) throw error;
    const reason = systemReason(error);
    throw new SessionError("export_failed", { path, reason }, { cause: error });
  }
}
