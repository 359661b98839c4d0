import { existsSync, openSync, realpathSync } from "node:fs";
import { encodeLine, SessionError } from "@tau-agent/rpc-protocol/plain";
import { LineReader } from "../file/line-reader.ts";
import { opening, SessionFile } from "../file/session-file.ts";
import type { LogWriter } from "./log-writer.ts";

/** When to flush the file to disk, to survive power cuts. */
export type FsyncMode = "none" | "turn" | "entry";

/**
 * Writes a session to its file. A file that is deleted during use is written again as a whole.
 *
 * @param file - the open file of a session that is continued
 */
export function createFileWriter(
  path: string,
  fsync: FsyncMode = "none",
  file?: SessionFile,
): LogWriter {
  let isGone = false;
  let opened: SessionFile | undefined = file;

  function create<T>(write: (file: SessionFile) => T): T {
    const file = SessionFile.create(path);
    let result: T;
    try {
      result = write(file);
    } catch (error) {
      file.close();
      throw error;
    }
    opened = file;
    isGone = false;
    syncEntry();
    return result;
  }

  function leaveFile(): void {
    opened?.close();
    opened = undefined;
    isGone = true;
  }

  function syncEntry(): void {
    if (fsync === "entry") opened?.sync();
  }

  return {
    path,
    reference: path,
    get ownership() {
      return opened && { key: realpathSync(path), epoch: opened.epoch };
    },
    get isBegun() {
      return opened !== undefined || isGone;
    },
    begin(lines) {
      create((file) => file.append(lines.map(encodeLine).join("")));
    },
    beginWithPieces(pieces) {
      return create((file) => {
        file.appendAll(pieces);
        return opening(path, () => new LineReader(path, openSync(path, "r")));
      });
    },
    append(entries) {
      const found = opened?.look();
      if (found?.isGone !== false) {
        leaveFile();
        return false;
      }
      opened?.append(entries.map(encodeLine).join(""), found);
      syncEntry();
      return true;
    },
    endTurn() {
      if (fsync === "turn") opened?.sync();
    },
    check() {
      opened?.check();
      if (isGone && existsSync(path)) {
        throw new SessionError("session_changed", { path });
      }
    },
    /** Each entry has reached the operating system before the call that wrote it returns. */
    stored() {
      return undefined;
    },
    /** A failed write was undone, and the next one tries again. */
    recover() {
      return undefined;
    },
    close() {
      opened?.close();
    },
  };
}
