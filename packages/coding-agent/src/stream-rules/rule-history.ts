import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { reminderDetails, type SessionTree } from "@tau-agent/sessions/log";

/** When a matched rule may match again. */
export interface RepeatPolicy {
  readonly mode: "once" | "after-gap";
  /** How many replies must come in between. */
  readonly gap: number;
}

/**
 * Which rules have matched on the current branch, and how many replies ago. The entries are read,
 * each once, so that this stays correct after a resume, a fork and a move in the tree.
 */
export class RuleHistory {
  #tree: SessionTree | undefined;
  #leafId: string | null = null;
  #replies = 0;
  /** The count of replies at the last match, by rule name. */
  readonly #struckAt = new Map<string, number>();

  /** Reads the new entries of the current branch. */
  follow(tree: SessionTree): void {
    const added = this.#addedTo(tree);
    if (added === undefined) {
      this.#replies = 0;
      this.#struckAt.clear();
    }
    for (const entry of added ?? tree.branch()) this.#read(entry as KnownSessionEntry);
    this.#tree = tree;
    this.#leafId = tree.leafId;
  }

  allows(name: string, { mode, gap }: RepeatPolicy): boolean {
    const struckAt = this.#struckAt.get(name);
    if (struckAt === undefined) return true;
    // Without a reply in between, a rule triggered by its own reminder would loop forever.
    return mode === "after-gap" && this.#replies - struckAt >= Math.max(1, gap);
  }

  /** The entries since the known leaf; undefined if the known leaf is on another branch. */
  #addedTo(tree: SessionTree): SessionEntry[] | undefined {
    if (this.#tree !== tree || this.#leafId === null) return undefined;
    const added: SessionEntry[] = [];
    for (const entry of tree.ancestors()) {
      if (entry.id === this.#leafId) return added.reverse();
      added.push(entry);
    }
    return undefined;
  }

  #read(entry: KnownSessionEntry): void {
    if (entry.type === "message" && entry.message.role === "assistant") {
      const { stopReason } = entry.message;
      if (stopReason !== "error" && stopReason !== "aborted") this.#replies++;
    } else if (entry.type === "custom_message") {
      const details = reminderDetails(entry);
      // A stopped reply does not count, even if it was kept.
      if (details?.contextMode === "keep") this.#replies--;
      for (const name of details?.rules ?? []) this.#struckAt.set(name, this.#replies);
    } else this.#readForeign(entry);
  }

  /** Other pi-compatible hosts store the names in a separate entry. */
  #readForeign(entry: SessionEntry): void {
    const { type, injectedRules } = entry as { type: string; injectedRules?: unknown };
    if (type !== "ttsr_injection" || !Array.isArray(injectedRules)) return;
    for (const name of injectedRules) {
      if (typeof name === "string") this.#struckAt.set(name, this.#replies);
    }
  }
}
