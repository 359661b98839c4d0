import { realpathSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import {
  closedPaths,
  hostPlaceReason,
  isHostPlace,
  makeFolder,
  randomHex,
  type ToolEnvironment,
} from "@tau-agent/system";
import type { CoverageLimits } from "./files/coverage.ts";
import { createMergeContents } from "./merge/merge-contents.ts";
import type { MergeContents } from "./merge/merge-state.ts";
import { writeFiles } from "./merge/write-files.ts";
import type { Snapshots, WantedFiles } from "./snapshots.ts";
import { changesBetween, type SnapshotChanges } from "./store/changes.ts";
import { writeCommit } from "./store/commits.ts";
import { KnownFiles } from "./store/known-files.ts";
import { hashOf, type OpenedStore, openStore } from "./store/open-store.ts";
import { passStaleLock } from "./store/pass-stale-lock.ts";
import { type FolderSnapshot, recordFolder } from "./store/record-folder.ts";
import { writeRef } from "./store/write-ref.ts";

export interface CheckpointPlace {
  /** The real path of the folder. */
  readonly folder: string;
  readonly directory: string;
  /** The agent's own folders, which are left out if they are in the folder. */
  readonly ownFolders: readonly string[];
  readonly limits: CoverageLimits;
}

export interface KeptSnapshot extends FolderSnapshot {
  readonly commit: string;
}

const refs = "refs/tau/checkpoints";

/** Snapshots of one folder, stored as commits under our own refs. */
export class CheckpointStore implements Snapshots<KeptSnapshot> {
  readonly opened: OpenedStore;
  readonly #environment: ToolEnvironment;
  readonly #place: CheckpointPlace;
  readonly #known = new KnownFiles();
  readonly #lastRef: string;
  readonly #cachePath: string;

  private constructor(opened: OpenedStore, environment: ToolEnvironment, place: CheckpointPlace) {
    this.opened = opened;
    this.#environment = environment;
    this.#place = place;
    this.#lastRef = `${refs}/last/${hashOf(place.folder)}`;
    this.#cachePath = join(place.directory, "known", `${hashOf(place.folder)}.json`);
  }

  /** @throws {ToolError} there is no git */
  static async open(
    environment: ToolEnvironment,
    place: CheckpointPlace,
  ): Promise<CheckpointStore> {
    const store = new CheckpointStore(await openStore(environment, place), environment, place);
    await store.#loadKnown();
    return store;
  }

  get folder(): string {
    return this.#place.folder;
  }

  get isApart(): boolean {
    return this.opened.isApart;
  }

  get mergeContents(): MergeContents {
    return createMergeContents(this.opened.git, this.opened.store);
  }

  changesBetween(before: string, after: string): Promise<SnapshotChanges> {
    return changesBetween(this.opened.store, before, after);
  }

  writeFiles(wanted: WantedFiles<KeptSnapshot>): Promise<ReadonlyMap<string, string>> {
    const refusalOf = (path: string) => this.refusalOf(path);
    return writeFiles({ ...wanted, folder: this.folder, store: this.opened.store, refusalOf });
  }

  async take(message: string, parents: readonly string[] = []): Promise<KeptSnapshot> {
    const { folder, limits } = this.#place;
    const skipped = this.#skipped();
    const closed = closedPaths(this.#environment);
    const request = { folder, closed, limits, skipped };
    const snapshot = await recordFolder(this.opened, request, this.#known);
    const commit = writeCommit(this.opened.store, snapshot, { message, parents });
    return { ...snapshot, commit };
  }

  /** Why a path of the folder is never written; undefined for most paths. */
  refusalOf(path: string): string | undefined {
    const place = join(this.folder, Buffer.from(path, "latin1").toString());
    const isHosts = isHostPlace(path) || this.#environment.sandbox?.isForHost(place) === true;
    return isHosts ? hostPlaceReason : undefined;
  }

  async keep(name: string, { commit }: KeptSnapshot): Promise<void> {
    await this.#updateRef(`${refs}/${name}`, commit);
    await this.#updateRef(this.#lastRef, commit);
  }

  /** Keeps the newest snapshot, and the known facts about its files for the next host. */
  async keepLast({ commit }: KeptSnapshot): Promise<void> {
    await this.#updateRef(this.#lastRef, commit);
    await makeFolder(join(this.#place.directory, "known"), 0o700);
    await this.#known.save(this.#cachePath, commit);
  }

  async drop(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#updateRefs(names.map((name) => `delete ${refs}/${name}`));
  }

  async #updateRef(ref: string, commit: string): Promise<void> {
    if (writeRef(this.opened.store.place.gitDir, ref, commit)) return;
    await this.#updateRefs([`update ${ref} ${commit}`]);
  }

  async #updateRefs(lines: readonly string[]): Promise<void> {
    const { git, store } = this.opened;
    const { gitDir, temporaryDirectory } = store.place;
    await makeFolder(temporaryDirectory, 0o700);
    const inputFile = join(temporaryDirectory, `refs-${randomHex(6)}`);
    writeFileSync(inputFile, `${lines.join("\n")}\n`, { mode: 0o600 });
    try {
      const location = { gitDir, workTree: gitDir };
      // Without a reflog, whatever the user has configured.
      const args = ["-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"];
      await passStaleLock(gitDir, () => git.run(args, { cwd: gitDir, location, inputFile }));
    } finally {
      const { rmSync } = process.getBuiltinModule("node:fs");
      rmSync(inputFile, { force: true });
    }
  }

  /** The contents of known files are certain to exist only while the last snapshot is kept. */
  async #loadKnown(): Promise<void> {
    const commit = this.#known.load(this.#cachePath);
    const { store } = this.opened;
    const [kept] = await store.lines(["rev-parse", "--verify", "--quiet", this.#lastRef]);
    if (commit === undefined || kept !== commit) this.#known.clear();
    else store.noteKnown(this.#known.ids());
  }

  /** The agent's own folders inside this one, as relative paths. */
  #skipped(): ReadonlySet<string> {
    const { folder, ownFolders } = this.#place;
    const paths = ownFolders.flatMap((own) => {
      try {
        const path = relative(folder, realpathSync(own));
        const isInside = path !== "" && path !== ".." && !path.startsWith(`..${sep}`);
        return isInside ? [Buffer.from(path).toString("latin1")] : [];
      } catch {
        // The folder does not exist, so nothing of it can be inside this one.
        return [];
      }
    });
    return new Set(paths);
  }
}
