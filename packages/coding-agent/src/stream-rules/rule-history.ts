import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { reminderDetails } from "../session-log/reminder.ts";
import type { SessionTree } from "../session-log/session-tree.ts";

/** When a rule that has struck may strike again. */
export interface RepeatPolicy {
  readonly mode: "once" | "after-gap";
  /** Replies that must have come in between. */
  readonly gap: number;
}

/**
 * Which rules have struck on the branch in use, and how many replies ago: read from the entries, so
 * that it holds across a resume, a fork and a move in the tree. Each entry is read once.
 */
export class RuleHistory {
  #tree: SessionTree | undefined;
  #leafId: string | null = null;
  #replies = 0;
  /** By the name of the rule: the count of replies when it struck last. */
  readonly #struckAt = new Map<string, number>();

  /** Takes in what the branch in use has become. */
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

  /** Whether a rule may strike. */
  allows(name: string, { mode, gap }: RepeatPolicy): boolean {
    const struckAt = this.#struckAt.get(name);
    if (struckAt === undefined) return true;
    // Without a reply in between, a rule that its own reminder sets off would never end.
    return mode === "after-gap" && this.#replies - struckAt >= Math.max(1, gap);
  }

  /** The entries since the known leaf; undefined if that is on another branch. */
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
      // A stopped reply that was kept does not count as one in between.
      if (details?.contextMode === "keep") this.#replies--;
      for (const name of details?.rules ?? []) this.#struckAt.set(name, this.#replies);
    } else this.#readForeign(entry);
  }

  /** Other pi-compatible hosts keep the names in a separate entry. */
  #readForeign(entry: SessionEntry): void {
    const { type, injectedRules } = entry as { type: string; injectedRules?: unknown };
    if (type !== "ttsr_injection" || !Array.isArray(injectedRules)) return;
    for (const name of injectedRules) {
      if (typeof name === "string") this.#struckAt.set(name, this.#replies);
    }
  }
}
