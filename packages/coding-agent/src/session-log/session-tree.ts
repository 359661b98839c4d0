import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { createEntryId } from "./entries/entry-id.ts";

const noPosition = -1;

/**
 * The entries of a session as a tree in memory. Appending makes a child of the leaf and moves the
 * leaf; nothing is ever changed or removed.
 */
export class SessionTree {
  readonly #entries: SessionEntry[] = [];
  readonly #positions = new Map<string, number>();
  /**
   * Where the parent of each entry stands, always before it; nowhere for a root. For a parent that is not
   * in the file (its line was damaged) it is the entry before.
   */
  readonly #parents: number[] = [];
  #leafId: string | null = null;

  /** All entries in the order of the file. */
  get entries(): readonly SessionEntry[] {
    return this.#entries;
  }

  /** The entry the next one hangs from; null before the first. */
  get leafId(): string | null {
    return this.#leafId;
  }

  /** Moves the leaf; the next append starts a branch there. The id must exist. */
  moveLeaf(id: string | null): void {
    this.#leafId = id;
  }

  /** The entry with this id. */
  get(id: string): SessionEntry | undefined {
    const position = this.#positions.get(id);
    return position === undefined ? undefined : this.#entries[position];
  }

  /** Where the entry stands in {@link entries}. */
  indexOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** Fields every new entry starts with: a fresh id, the leaf as parent, the time (default now). */
  createNode(time = new Date()): { id: string; parentId: string | null; timestamp: string } {
    return {
      id: createEntryId((id) => this.#positions.has(id)),
      parentId: this.#leafId,
      timestamp: time.toISOString(),
    };
  }

  /** Adds an entry that is written, and makes it the leaf. */
  adopt(entry: SessionEntry): void {
    const { id, parentId } = entry;
    const parent = this.#positionOf(parentId) ?? this.#positionOf(this.#leafId);
    this.#parents.push(parentId === null ? noPosition : (parent ?? noPosition));
    this.#positions.set(id, this.#entries.length);
    this.#entries.push(entry);
    this.#leafId = id;
  }

  /**
   * The entries from the root to `leafId`, oldest first. Where a parent is missing, the entry that
   * stood before in the file takes its place, so that a damaged line costs no more than itself.
   */
  branch(leafId: string | null = this.#leafId): SessionEntry[] {
    return [...this.ancestors(leafId)].reverse();
  }

  /** The entries of {@link branch} the other way round, for those who need only the last of them. */
  *ancestors(leafId: string | null = this.#leafId): Generator<SessionEntry> {
    // Ids come twice only in files that somebody put together from others.
    const seen = this.#positions.size < this.#entries.length ? new Set<string>() : undefined;
    let position = this.#positionOf(leafId) ?? noPosition;
    for (;;) {
      const entry = this.#entries[position];
      if (entry === undefined || seen?.has(entry.id)) return;
      seen?.add(entry.id);
      yield entry;
      position = this.#parents[position] ?? noPosition;
    }
  }

  #positionOf(id: string | null): number | undefined {
    return id === null ? undefined : this.#positions.get(id);
  }
}
