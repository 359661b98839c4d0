import { join } from "node:path";
import type { Checkpoint as CheckpointInfo, RewindFiles } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { randomHex, type ToolEnvironment, Turns } from "@tau-agent/system";
import { shownName } from "../git/file-names.ts";
import { type CheckpointPlace, CheckpointStore } from "./checkpoint-store.ts";
import { type FileState, isSame } from "./files/file-state.ts";
import { type Effect, Journal } from "./journal.ts";
import { type Plan, planTakeBack } from "./merge/plan.ts";
import type { KeptState, Snapshots } from "./snapshots.ts";
import type { SnapshotChanges } from "./store/changes.ts";
import type { SnapshotNotes } from "./store/commits.ts";
import { hashOf } from "./store/open-store.ts";
import {
  type Checkpoint,
  effectsBefore,
  type Force,
  forcesAfter,
  type PastRewind,
  type Timeline,
  timelineOf,
  wholly,
} from "./timeline.ts";

export interface RewindEngineOptions extends CheckpointPlace {
  readonly environment: ToolEnvironment;
  readonly sessionId: string;
  readonly keep: number;
  /** The workspace of the folder if it is on another machine. */
  readonly elsewhere?: Workspace | undefined;
}

export interface TakeBackRequest {
  readonly entryId: string;
  /** Whether a checkpoint belongs to the message or to a later one. */
  readonly isSince: (entryId: string) => boolean;
  /** The position of the message in the session's file. */
  readonly position: number;
  readonly length: number;
  readonly undoes?: string | undefined;
  readonly leafId: string | null;
  readonly dryRun: boolean;
}

export interface TakenBack {
  readonly files: RewindFiles;
  /** Undefined if nothing was changed. */
  readonly undoCheckpointId: string | undefined;
}

/** Changes of a checkpoint or a rewind to take back; changes to redo are reversed. */
interface Step {
  readonly found: SnapshotChanges;
  /** The effects in force afterwards. */
  readonly effects: readonly Effect[];
}

const nothing: Force = { isInForce: false, except: new Set() };

/** The checkpoints of a session in one folder. Operations run one at a time. */
export class RewindEngine {
  readonly #options: RewindEngineOptions;
  readonly #store: Snapshots;
  readonly #journal: Journal;
  readonly #refFolder: string;
  #open: { readonly id: string; readonly entryId: string; readonly before: KeptState } | undefined;
  readonly #turns = new Turns();
  #isRecovered = false;

  private constructor(options: RewindEngineOptions, store: Snapshots) {
    this.#options = options;
    this.#store = store;
    this.#refFolder = hashOf(options.sessionId);
    // The content of one store says nothing about the other.
    const name = `${this.#refFolder}${store.isApart ? "-apart" : ""}.jsonl`;
    this.#journal = new Journal(join(options.directory, "journals", name));
  }

  /** @throws {ToolError} there is no git */
  static async open(options: RewindEngineOptions): Promise<RewindEngine> {
    const { environment, elsewhere } = options;
    if (elsewhere === undefined) {
      return new RewindEngine(options, await CheckpointStore.open(environment, options));
    }
    const { openSnapshotsThere } = await import("./snapshots-there.ts");
    return new RewindEngine(options, await openSnapshotsThere(elsewhere, options));
  }

  /** Records the files before a prompt changes them, unless that was done for this prompt. */
  begin(entryId: string): Promise<void> {
    return this.#turns.take("", async () => {
      if (this.#open?.entryId === entryId) return;
      await this.#recover();
      const id = `cp-${randomHex(6)}`;
      const before = await this.#store.take(`Before ${entryId}`);
      await this.#finish(before);
      await this.#store.keep(this.#refOf(id), before);
      const { folder } = this.#store;
      const { notCovered } = before.notes;
      this.#journal.append({
        ...{ type: "begin", id, entryId, folder, commit: before.commit },
        ...{ timestamp: Date.now(), notCovered },
      });
      this.#open = { id, entryId, before };
    });
  }

  /** Ends the prompt's checkpoint: what the prompt changed is known now. */
  end(): Promise<void> {
    return this.#turns.take("", async () => {
      const open = this.#open;
      if (open === undefined) return;
      const after = await this.#store.take(`After ${open.entryId}`, [open.before.commit]);
      await this.#finish(after);
      await this.#store.keepLast(after);
      await this.#prune();
    });
  }

  /** Completes what a killed host left unfinished. */
  recover(): Promise<void> {
    return this.#turns.take("", () => this.#recover());
  }

  /** One checkpoint per message whose prompt changed files, oldest first. */
  list(textOf: (entryId: string) => string | undefined): Promise<CheckpointInfo[]> {
    return this.#turns.take("", async () => {
      await this.#recover();
      const infos = new Map<string, CheckpointInfo>();
      for (const { id, entryId, timestamp, notCovered, after } of this.#timeline().checkpoints) {
        const text = textOf(entryId);
        if (after === undefined || text === undefined || infos.has(entryId)) continue;
        const paths = notCovered.map(shownName);
        const missing = paths.length === 0 ? {} : { notCovered: paths };
        infos.set(entryId, { id, entryId, text, timestamp, ...missing });
      }
      return [...infos.values()];
    });
  }

  find(id: string): Checkpoint | PastRewind | undefined {
    const { checkpoints, rewinds } = this.#timeline();
    return checkpoints.find((checkpoint) => checkpoint.id === id) ?? rewinds.get(id);
  }

  /**
   * Takes back prompts or a rewind.
   *
   * @throws {SessionError} `checkpoint_dropped`
   */
  takeBack(request: TakeBackRequest): Promise<TakenBack> {
    return this.#turns.take("", async () => {
      await this.#recover();
      return this.#takeBack(request);
    });
  }

  async #takeBack(request: TakeBackRequest): Promise<TakenBack> {
    const { entryId, dryRun } = request;
    const steps = await this.#stepsOf(request);
    const id = `rw-${randomHex(6)}`;
    const before = await this.#store.take(`Before a rewind to ${entryId}`);
    const plan = await planTakeBack({
      current: before.files,
      notCovered: before.notes.notCovered,
      steps: steps.map(({ found }) => found),
      refusalOf: (path) => this.#store.refusalOf(path),
      mergeContents: this.#store.mergeContents,
    });
    const notCovered = new Set(before.notes.notCovered);
    for (const { found } of steps) for (const path of found.notCovered) notCovered.add(path);
    if (dryRun) {
      return { files: describe(plan, before, notCovered), undoCheckpointId: undefined };
    }
    await this.#store.keep(this.#refOf(id), before);
    const states = [...plan.targets].map(([path, state]) => {
      const { kind, mode, id: content } = before.files.get(path) ?? {};
      const now = kind === undefined ? null : { kind, mode: mode ?? 0, id: content ?? "" };
      return [path, now, state ?? null] as const;
    });
    this.#journal.append({
      ...{ type: "rewind", id, entryId, folder: this.#store.folder, commit: before.commit },
      ...(request.undoes === undefined ? {} : { undoes: request.undoes }),
      ...{ targets: states, leafId: request.leafId, position: request.length },
      effects: effectsOf(steps, plan.conflicts.keys()),
    });
    const failures = await this.#store.writeFiles({
      ...{ current: before.files, targets: plan.targets, temporaryName: `.tau-${id}` },
    });
    const done = withFailures(plan, failures);
    await this.#finishRewind(id, before.commit, effectsOf(steps, done.conflicts.keys()));
    return { files: describe(done, before, notCovered), undoCheckpointId: id };
  }

  /** The steps to perform: first the newest prompts are taken back, then older ones are redone. */
  async #stepsOf({ isSince, position, undoes }: TakeBackRequest): Promise<Step[]> {
    const timeline = this.#timeline();
    const past = undoes === undefined ? undefined : timeline.rewinds.get(undoes);
    if (past !== undefined) {
      const found = await this.#store.changesBetween(past.commit, past.end?.commit ?? past.commit);
      return [{ found, effects: effectsBefore(timeline, past) }];
    }
    const dropped = [...timeline.pruned].find(isSince);
    if (dropped !== undefined) throw new SessionError("checkpoint_dropped", { entryId: dropped });
    const now = forcesAfter(timeline);
    const then = forcesAfter(timeline, (rewind) => rewind.position <= position);
    const ended = timeline.checkpoints.filter(({ after }) => after !== undefined);
    const wanted = ({ id, entryId }: Checkpoint) =>
      isSince(entryId) ? nothing : (then.get(id) ?? wholly);
    const steps = ended.toReversed().map((checkpoint) => {
      return this.#stepTo(checkpoint, now.get(checkpoint.id) ?? wholly, wanted(checkpoint));
    });
    const found = (await Promise.all(steps)).filter((step) => step !== undefined);
    const isBack = ({ effects }: Step) => effects[0]?.[1] === false;
    return [...found.filter(isBack), ...found.filter((step) => !isBack(step)).reverse()];
  }

  /** The step from one state of a checkpoint to another; undefined if they are the same. */
  async #stepTo(
    { id, commit, after = commit }: Checkpoint,
    now: Force,
    wanted: Force,
  ): Promise<Step | undefined> {
    const isWithout = (force: Force) => !force.isInForce && force.except.size === 0;
    if (isWithout(now) && isWithout(wanted)) return undefined;
    const inForce = ({ isInForce, except }: Force, path: string) => except.has(path) !== isInForce;
    const found = await this.#store.changesBetween(commit, after);
    const changes = found.changes.flatMap((change) => {
      const { path, before: was, after: is } = change;
      if (inForce(now, path) === inForce(wanted, path)) return [];
      return [wanted.isInForce ? { path, before: is, after: was } : change];
    });
    if (changes.length === 0) return undefined;
    const effects: Effect[] = [[id, wanted.isInForce, [...wanted.except]]];
    return { found: { ...found, changes }, effects };
  }

  async #finishRewind(id: string, before: string, effects: readonly Effect[]): Promise<void> {
    const after = await this.#store.take("After a rewind", [before]);
    await this.#store.keep(this.#refOf(id), after);
    this.#journal.append({ type: "done", id, commit: after.commit, effects });
    await this.#store.keepLast(after);
  }

  /** Ends the open checkpoint with a snapshot; drops it if nothing has changed. */
  async #finish(after: KeptState): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { tree, notes } = open.before;
    const isChanged = after.tree !== tree || modesIn(after.notes) !== modesIn(notes);
    if (isChanged) await this.#store.keep(this.#refOf(open.id), after);
    this.#journal.append({ type: "end", id: open.id, commit: after.commit, isChanged });
    if (!isChanged) await this.#store.drop([this.#refOf(open.id)]);
  }

  async #prune(): Promise<void> {
    const { checkpoints, rewinds } = this.#timeline();
    const { keep } = this.#options;
    const old = (all: readonly { readonly id: string }[]) =>
      all.slice(0, Math.max(0, all.length - keep)).map(({ id }) => id);
    const ids = [...old(checkpoints), ...old([...rewinds.values()])];
    if (ids.length === 0) return;
    this.#journal.append({ type: "prune", ids });
    await this.#store.drop(ids.map((id) => this.#refOf(id)));
  }

  /** Ends everything that a killed host left open with the current files. */
  async #recover(): Promise<void> {
    if (this.#isRecovered) return;
    const { rewinds } = this.#timeline();
    for (const rewind of rewinds.values()) {
      if (rewind.end === undefined) await this.#resume(rewind);
    }
    const left = this.#timeline().checkpoints.filter(({ after }) => after === undefined);
    if (left.length > 0) {
      const { commit, files, ...rest } = await this.#store.take("After a killed host");
      for (const { id, commit: before } of left) {
        const { changes } = await this.#store.changesBetween(before, commit);
        const isChanged = changes.length > 0;
        if (isChanged) await this.#store.keep(this.#refOf(id), { commit, files, ...rest });
        this.#journal.append({ type: "end", id, commit, isChanged });
      }
    }
    this.#isRecovered = true;
  }

  /** Continues a rewind whose host was killed: files that nobody has changed since are set to their target. */
  async #resume(rewind: PastRewind): Promise<void> {
    const now = await this.#store.take("During a rewind");
    const targets = new Map<string, FileState | undefined>();
    const conflicts = new Set<string>();
    for (const [path, from, to] of rewind.targets) {
      const found = now.files.get(path);
      if (isSame(found, to ?? undefined)) continue;
      if (isSame(found, from ?? undefined)) targets.set(path, to ?? undefined);
      else conflicts.add(path);
    }
    const failures = await this.#store.writeFiles({
      ...{ current: now.files, targets, temporaryName: `.tau-${rewind.id}` },
      gone: rewind.targets.flatMap(([path, , to]) => (to === null ? [path] : [])),
    });
    for (const path of failures.keys()) conflicts.add(path);
    const effects = rewind.effects.map(
      ([id, isInForce, except]) => [id, isInForce, [...except, ...conflicts]] as const,
    );
    await this.#finishRewind(rewind.id, rewind.commit, effects);
  }

  #timeline(): Timeline {
    return timelineOf(this.#journal.events, this.#store.folder);
  }

  #refOf(id: string): string {
    return `${this.#refFolder}/${id}`;
  }
}

function modesIn({ usual, modes }: SnapshotNotes): string {
  return JSON.stringify([usual, modes]);
}

function withFailures(plan: Plan, failures: ReadonlyMap<string, string>): Plan {
  const targets = new Map([...plan.targets].filter(([path]) => !failures.has(path)));
  return { targets, conflicts: new Map([...plan.conflicts, ...failures]) };
}

/** The effects in force once the steps are done, except for paths in conflict. */
function effectsOf(steps: readonly Step[], conflicts: Iterable<string>): Effect[] {
  const left = new Set(conflicts);
  return steps.flatMap(({ found, effects }) => {
    const paths = found.changes.map(({ path }) => path).filter((path) => left.has(path));
    return effects.map(
      ([id, isInForce, except]): Effect => [id, isInForce, [...new Set([...except, ...paths])]],
    );
  });
}

function describe(
  { targets, conflicts }: Plan,
  { files }: KeptState,
  leftOut: ReadonlySet<string>,
): RewindFiles {
  const changed = [...targets].flatMap(([path, state]) => {
    // Empty folders appear and disappear with the files.
    const isNow = files.has(path) && files.get(path)?.kind !== "folder";
    const willBe = state !== undefined && state.kind !== "folder";
    if (!isNow && !willBe) return [];
    const change = willBe ? (isNow ? "restored" : "created") : "deleted";
    return [{ path: shownName(path), change } as const];
  });
  return {
    changed: changed.sort((one, other) => (one.path < other.path ? -1 : 1)),
    conflicts: [...conflicts]
      .map(([path, reason]) => ({ path: shownName(path), reason }))
      .sort((one, other) => (one.path < other.path ? -1 : 1)),
    notCovered: [...leftOut].sort().map(shownName),
  };
}
