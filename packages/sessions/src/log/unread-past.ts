import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { ScannedLine } from "./scan/index.ts";

/** The entries at the beginning of a file, of which those that are not usual messages are known. */
export interface UnreadPast {
  /** How many entries there are. */
  readonly length: number;
  /** The one that later entries continue; -1 if they have none. */
  readonly parent: number;
  readonly parentId: string | null;
  readonly others: readonly {
    readonly position: number;
    readonly entry: SessionEntry;
    /** It is the parent of later entries, or an ancestor of that one. */
    readonly isOnBranch: boolean;
  }[];
  /** Adds all of them to a tree. */
  read(tree: { adopt(entry: SessionEntry): void; adoptScanned(line: ScannedLine): void }): void;
}
