import { realpathSync } from "node:fs";
import type { RestoredFiles } from "@tau-agent/worktrees";
import type { FolderSnapshots } from "@tau-agent/worktrees/folder-snapshots";

const maxTries = 8;
const pauseMs = 40;

/** Does work only while the host owns the session, and prevents a takeover until the work is done. */
export type Guarded = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Takes snapshots of folders in which local commands run. */
export class FolderRecorder {
  readonly #guarded: Guarded;
  readonly #open: (folder: string) => Promise<FolderSnapshots>;
  readonly #opened = new Map<string, Promise<FolderSnapshots>>();

  constructor(guarded: Guarded, open: (folder: string) => Promise<FolderSnapshots>) {
    this.#guarded = guarded;
    this.#open = open;
  }

  /** Retries, because other hosts that record the same folder may hold git's locks. */
  async take(folder: string): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await (await this.#of(folder)).take();
      } catch (error) {
        if (tries === maxTries) throw error;
        await new Promise((resolve) => setTimeout(resolve, tries * pauseMs));
      }
    }
  }

  async restore(folder: string, snapshot: string, endedAt: number): Promise<RestoredFiles> {
    const snapshots = await this.#of(folder);
    return this.#guarded(() => snapshots.restore(snapshot, endedAt));
  }

  #of(folder: string): Promise<FolderSnapshots> {
    const real = realpathSync(folder);
    const found = this.#opened.get(real) ?? this.#open(real);
    this.#opened.set(real, found);
    // Lets the next call try again.
    found.catch(() => this.#opened.delete(real));
    return found;
  }
}
