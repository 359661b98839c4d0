import type { SessionLog } from "./session-log.ts";
import type { SessionTree } from "./session-tree.ts";

/** The entries of a session as their readers see them: nothing here writes or moves the leaf. */
export interface SessionLogView
  extends Pick<SessionLog, "header" | "path" | "reference" | "name" | "totals"> {
  readonly tree: Pick<
    SessionTree,
    | "entries"
    | "length"
    | "leafId"
    | "get"
    | "at"
    | "slice"
    | "indexOf"
    | "roleAt"
    | "positions"
    | "branch"
    | "ancestors"
  >;
}
