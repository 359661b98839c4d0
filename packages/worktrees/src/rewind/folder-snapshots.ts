import { type ToolEnvironment, Turns } from "@tau-agent/system";
import { shownName } from "../git/file-names.ts";
import { type CheckpointPlace, CheckpointStore, type KeptSnapshot } from "./checkpoint-store.ts";
import type { FileState } from "./files/file-state.ts";
import { writeFiles } from "./merge/write-files.ts";
import { changesBetween } from "./store/changes.ts";
import { hashOf } from "./store/open-store.ts";

/** The result of undoing the changes of a call. */
export interface RestoredFiles {
  readonly restored: readonly string[];
  /** Paths that were left alone: someone else changed them, or they could not be written. */
  readonly left: readonly string[];
  /** Paths that are not recorded. */
  readonly notCovered: readonly string[];
}

/** File times are coarser than clocks. */
const slackMs = 50;

/** Records a folder before calls that may change anything in it, and undoes interrupted calls. */
export class FolderSnapshots {
  readonly #store: CheckpointStore;
  readonly #ref: string;
  #last: KeptSnapshot | undefined;
  readonly #turns = new Turns();

  private constructor(store: CheckpointStore, session: string) {
    this.#store = store;
    this.#ref = `calls/${hashOf(session)}`;
  }

  /** @throws {ToolError} there is no git */
  static async open(
    environment: ToolEnvironment,
    place: CheckpointPlace & { readonly session: string },
  ): Promise<FolderSnapshots> {
    return new FolderSnapshots(await CheckpointStore.open(environment, place), place.session);
  }

  /** Records the current files; the previous snapshot is reused if nothing has changed. */
  take(): Promise<string> {
    return this.#turns.take("", async () => {
      const last = this.#last;
      const now = await this.#store.take("Before a call");
      const isSame =
        last?.tree === now.tree && JSON.stringify(last.notes) === JSON.stringify(now.notes);
      if (last !== undefined && isSame) return last.commit;
      await this.#store.keep(this.#ref, now);
      this.#last = now;
      return now.commit;
    });
  }

  /**
   * Restores files that have changed since a snapshot, except for those that someone changed after the call had ended.
   *
   * @param endedAt in ms since the epoch
   */
  restore(commit: string, endedAt: number): Promise<RestoredFiles> {
    return this.#turns.take("", async () => {
      const { store } = this.#store.opened;
      const now = await this.#store.take("After an interrupted call", [commit]);
      const { changes, notCovered } = await changesBetween(store, commit, now.commit);
      const targets = new Map<string, FileState | undefined>();
      const left: string[] = [];
      for (const { path, before } of changes) {
        const stamp = now.files.get(path)?.stamp;
        // For a removed file, it is unknown when that happened.
        const changedAt = Math.max(stamp?.ctimeMs ?? 0, stamp?.mtimeMs ?? 0);
        if (changedAt > endedAt + slackMs) left.push(path);
        else targets.set(path, before);
      }
      const failures = await writeFiles({
        ...{ folder: this.#store.folder, store, current: now.files, targets },
        refusalOf: (path) => this.#store.refusalOf(path),
        gone: [...targets].flatMap(([path, state]) => (state === undefined ? [path] : [])),
        temporaryName: `.tau-${hashOf(commit).slice(0, 8)}`,
      });
      this.#last = undefined;
      const restored = [...targets.keys()].filter((path) => !failures.has(path));
      const shown = (paths: readonly string[]) => [...paths].sort().map(shownName);
      return {
        restored: shown(restored),
        left: shown([...left, ...failures.keys()]),
        notCovered: shown(notCovered),
      };
    });
  }
}
