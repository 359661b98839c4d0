import type { Effect, JournalEvent, PromptBegin, RewindBegin, RewindEnd } from "./journal.ts";

/** A prompt with the snapshots around its changes. */
export interface Checkpoint extends PromptBegin {
  /** The snapshot after the prompt; undefined while it runs, or if its host was killed. */
  readonly after: string | undefined;
}

export interface PastRewind extends RewindBegin {
  readonly end: RewindEnd | undefined;
}

/** Whether the changes of a checkpoint are in the files; for some paths the opposite is true. */
export interface Force {
  readonly isInForce: boolean;
  readonly except: ReadonlySet<string>;
}

export interface Timeline {
  /** Checkpoints that changed files, and the one not known to have ended; oldest first. */
  readonly checkpoints: readonly Checkpoint[];
  readonly rewinds: ReadonlyMap<string, PastRewind>;
  /** Messages whose checkpoints are no longer kept. */
  readonly pruned: ReadonlySet<string>;
}

export function timelineOf(events: readonly JournalEvent[], folder: string): Timeline {
  const checkpoints = new Map<string, Checkpoint>();
  const rewinds = new Map<string, PastRewind>();
  const pruned = new Set<string>();
  const take: { [Type in JournalEvent["type"]]: (event: never) => void } = {
    begin: (event: PromptBegin) => {
      if (event.folder === folder) checkpoints.set(event.id, { ...event, after: undefined });
    },
    end: ({ id, commit, isChanged }: Extract<JournalEvent, { type: "end" }>) => {
      const begun = checkpoints.get(id);
      if (begun === undefined) return;
      if (isChanged) checkpoints.set(id, { ...begun, after: commit });
      else checkpoints.delete(id);
    },
    rewind: (event: RewindBegin) => {
      if (event.folder === folder) rewinds.set(event.id, { ...event, end: undefined });
    },
    done: (event: RewindEnd) => {
      const begun = rewinds.get(event.id);
      if (begun !== undefined) rewinds.set(event.id, { ...begun, end: event });
    },
    prune: ({ ids }: Extract<JournalEvent, { type: "prune" }>) => {
      for (const id of ids) {
        const known = checkpoints.get(id);
        if (known !== undefined) pruned.add(known.entryId);
        checkpoints.delete(id);
        rewinds.delete(id);
      }
    },
  };
  for (const event of events) take[event.type]?.(event as never);
  return { checkpoints: [...checkpoints.values()], rewinds, pruned };
}

/**
 * Which checkpoints were in force after the rewinds that `counts` accepts, as far as rewinds record it;
 * every other checkpoint is in force since its prompt.
 */
export function forcesAfter(
  { rewinds }: Timeline,
  counts: (rewind: PastRewind) => boolean = () => true,
): ReadonlyMap<string, Force> {
  const forces = new Map<string, Force>();
  for (const rewind of rewinds.values()) {
    if (rewind.end === undefined || !counts(rewind)) continue;
    for (const [id, isInForce, except] of rewind.end.effects) {
      forces.set(id, { isInForce, except: new Set(except) });
    }
  }
  return forces;
}

/** The effects to restore in order to take back a rewind. */
export function effectsBefore(timeline: Timeline, rewind: PastRewind): Effect[] {
  const isEarlier = (other: PastRewind) => other !== rewind && !isLater(timeline, other, rewind);
  const forces = forcesAfter(timeline, isEarlier);
  return (rewind.end?.effects ?? []).map(([id]) => {
    const { isInForce, except } = forces.get(id) ?? wholly;
    return [id, isInForce, [...except]];
  });
}

/** In force for all paths. */
export const wholly: Force = { isInForce: true, except: new Set() };

function isLater({ rewinds }: Timeline, one: PastRewind, other: PastRewind): boolean {
  const order = [...rewinds.keys()];
  return order.indexOf(one.id) > order.indexOf(other.id);
}
