import { realpathSync } from "node:fs";
import type { RestoredFiles } from "@tau-agent/worktrees";
import type { FolderSnapshots } from "@tau-agent/worktrees/folder-snapshots";

/** Records the folders that commands of this machine run in. */
export class FolderRecorder {
  readonly #open: (folder: string) => Promise<FolderSnapshots>;
  readonly #opened = new Map<string, Promise<FolderSnapshots>>();

  constructor(open: (folder: string) => Promise<FolderSnapshots>) {
    this.#open = open;
  }

  async take(folder: string): Promise<string> {
    return (await this.#of(folder)).take();
  }

  async restore(folder: string, snapshot: string, endedAt: number): Promise<RestoredFiles> {
    return (await this.#of(folder)).restore(snapshot, endedAt);
  }

  #of(folder: string): Promise<FolderSnapshots> {
    const real = realpathSync(folder);
    const found = this.#opened.get(real) ?? this.#open(real);
    this.#opened.set(real, found);
    // The next call tries again.
    found.catch(() => this.#opened.delete(real));
    return found;
  }
}
