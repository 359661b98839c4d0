import { closeSync, openSync, readSync } from "node:fs";
import {
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { SandboxStartError } from "../../processes/process-error.ts";
import type { CommandFolder } from "./command-folder.ts";

const pollMs = 50;
/** How often to check that the keeper still runs. */
const keeperMs = 1_000;
const chunkBytes = 256 * 1024;
const headBytes = 5;

/** Delivers the stored output of a kept command at its listener's pace, until the command ends. */
export function createCommandFollower(
  folder: CommandFolder,
  { onOutput, fromOffset }: Pick<WorkspaceSpawnOptions, "onOutput"> & { fromOffset: number },
) {
  let file: number | undefined;
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);
  let hasNews = true;
  let wake: () => void = () => {};
  let skip: number = fromOffset;
  const done = follow();
  // Not every caller awaits the end.
  done.catch(() => {});

  async function follow(): Promise<WorkspaceExit> {
    let keptAt = performance.now();
    try {
      for (;;) {
        hasNews = false;
        // Read the outcome first: once a command has ended, its output is complete.
        const { outcome } = folder;
        await readAll();
        if (outcome !== undefined) {
          const { exitCode, signal, timedOut, unstarted } = outcome;
          if (unstarted !== undefined) throw new SandboxStartError(unstarted);
          return { exitCode, ...(signal && { signal }), ...(timedOut && { timedOut }) };
        }
        if (performance.now() - keptAt > keeperMs) {
          checkKeeper();
          keptAt = performance.now();
        }
        if (!hasNews) await news();
      }
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  function checkKeeper(): void {
    if (folder.isKept || folder.outcome !== undefined) return;
    if (!folder.exists) throw new WorkspaceError("failed", "The command was ended");
    // Without the keeper the command's exit would go unnoticed.
    folder.kill();
    throw new WorkspaceError("failed", "The process that followed the command was ended");
  }

  function news(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function readAll(): Promise<void> {
    file ??= attempt(() => openSync(`${folder.path}/output`, "r"));
    if (file === undefined) return;
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const read = readSync(file, chunk, 0, chunkBytes, position);
      if (read === 0) return;
      position += read;
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      await handOver();
    }
  }

  async function handOver(): Promise<void> {
    for (;;) {
      if (rest.length < headBytes) return;
      const end = headBytes + rest.readUInt32BE(1);
      if (rest.length < end) return;
      const stream = rest.readUInt8(0) === 2 ? "stderr" : "stdout";
      const bytes = rest.subarray(headBytes, end);
      rest = rest.subarray(end);
      const wanted = bytes.subarray(skip);
      skip = Math.max(0, skip - bytes.length);
      if (wanted.length > 0) await onOutput(wanted, stream);
    }
  }

  return {
    done,
    /** Says that there may be more output. */
    wake(): void {
      hasNews = true;
      wake();
    },
  };
}

export type CommandFollower = ReturnType<typeof createCommandFollower>;
