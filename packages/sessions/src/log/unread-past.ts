import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { ScannedLine } from "./scan/index.ts";

/** The unread entries at the beginning of a file, of which only those other than usual messages are known. */
export interface UnreadPast {
  /** The number of entries. */
  readonly length: number;
  /** The entry that later entries continue; -1 if there is none. */
  readonly parent: number;
  readonly parentId: string | null;
  readonly others: readonly {
    readonly position: number;
    readonly entry: SessionEntry;
    /** Whether it is the parent of later entries, or an ancestor of that parent. */
    readonly isOnBranch: boolean;
  }[];
  /** Adds all of them to a tree. */
  read(tree: { adopt(entry: SessionEntry): void; adoptScanned(line: ScannedLine): void }): void;
}
