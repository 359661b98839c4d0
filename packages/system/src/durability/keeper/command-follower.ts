import { closeSync, openSync, readSync } from "node:fs";
import {
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import type { CommandFolder } from "./command-folder.ts";

const pollMs = 50;
/** How often to look whether the keeper is there. */
const keeperMs = 1_000;
const chunkBytes = 256 * 1024;
const headBytes = 5;

/** Hands over the stored output of a kept command, at its listener's pace, until its end. */
export class CommandFollower {
  readonly done: Promise<WorkspaceExit>;
  readonly #folder: CommandFolder;
  readonly #onOutput: WorkspaceSpawnOptions["onOutput"];
  #skip: number;
  #file: number | undefined;
  #position = 0;
  #rest: Buffer = Buffer.alloc(0);
  #hasNews = true;
  #wake: () => void = () => {};

  constructor(
    folder: CommandFolder,
    { onOutput, fromOffset }: Pick<WorkspaceSpawnOptions, "onOutput"> & { fromOffset: number },
  ) {
    this.#folder = folder;
    this.#onOutput = onOutput;
    this.#skip = fromOffset;
    this.done = this.#follow();
    // Not everybody waits for the end.
    this.done.catch(() => {});
  }

  /** There may be more. */
  wake(): void {
    this.#hasNews = true;
    this.#wake();
  }

  async #follow(): Promise<WorkspaceExit> {
    let keptAt = performance.now();
    try {
      for (;;) {
        this.#hasNews = false;
        // In this order: what has ended by then has said everything.
        const { outcome } = this.#folder;
        await this.#readAll();
        if (outcome !== undefined) {
          const { exitCode, signal, timedOut } = outcome;
          return { exitCode, ...(signal && { signal }), ...(timedOut && { timedOut }) };
        }
        if (performance.now() - keptAt > keeperMs) {
          this.#checkKeeper();
          keptAt = performance.now();
        }
        if (!this.#hasNews) await this.#news();
      }
    } finally {
      if (this.#file !== undefined) closeSync(this.#file);
    }
  }

  #checkKeeper(): void {
    if (this.#folder.isKept || this.#folder.outcome !== undefined) return;
    if (!this.#folder.exists) throw new WorkspaceError("failed", "The command was ended");
    // Without its keeper nobody learns how it ends.
    this.#folder.kill();
    throw new WorkspaceError("failed", "The process that followed the command was ended");
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #readAll(): Promise<void> {
    this.#file ??= attempt(() => openSync(`${this.#folder.path}/output`, "r"));
    if (this.#file === undefined) return;
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const read = readSync(this.#file, chunk, 0, chunkBytes, this.#position);
      if (read === 0) return;
      this.#position += read;
      this.#rest = Buffer.concat([this.#rest, chunk.subarray(0, read)]);
      await this.#handOver();
    }
  }

  async #handOver(): Promise<void> {
    for (;;) {
      if (this.#rest.length < headBytes) return;
      const end = headBytes + this.#rest.readUInt32BE(1);
      if (this.#rest.length < end) return;
      const stream = this.#rest.readUInt8(0) === 2 ? "stderr" : "stdout";
      const bytes = this.#rest.subarray(headBytes, end);
      this.#rest = this.#rest.subarray(end);
      const wanted = bytes.subarray(this.#skip);
      this.#skip = Math.max(0, this.#skip - bytes.length);
      if (wanted.length > 0) await this.#onOutput(wanted, stream);
    }
  }
}
