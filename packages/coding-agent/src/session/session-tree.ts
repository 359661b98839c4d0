import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { createEntryId } from "./entry-id.ts";

/**
 * The entries of a session as a tree in memory. Appending makes a child of the leaf and moves the
 * leaf; nothing is ever changed or removed.
 */
export class SessionTree {
  readonly #entries: SessionEntry[] = [];
  readonly #byId = new Map<string, SessionEntry>();
  readonly #positions = new Map<string, number>();
  /** For entries whose parent is not in the file (its line was damaged): the entry before them. */
  readonly #standIns = new Map<string, string>();
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
    return this.#byId.get(id);
  }

  /** Where the entry stands in {@link entries}. */
  indexOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** Fields every new entry starts with: a fresh id, the leaf as parent, the time. */
  createNode(): { id: string; parentId: string | null; timestamp: string } {
    return {
      id: createEntryId((id) => this.#byId.has(id)),
      parentId: this.#leafId,
      timestamp: new Date().toISOString(),
    };
  }

  /** Adds an entry that is written, and makes it the leaf. */
  adopt(entry: SessionEntry): void {
    const { parentId } = entry;
    if (parentId !== null && this.#leafId !== null && !this.#byId.has(parentId)) {
      this.#standIns.set(entry.id, this.#leafId);
    }
    this.#positions.set(entry.id, this.#entries.length);
    this.#entries.push(entry);
    this.#byId.set(entry.id, entry);
    this.#leafId = entry.id;
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
    const seen = new Set<string>();
    let id = leafId;
    while (id !== null && !seen.has(id)) {
      seen.add(id);
      const entry = this.#byId.get(id);
      if (entry === undefined) return;
      yield entry;
      id = this.#standIns.get(entry.id) ?? entry.parentId;
    }
  }
}
