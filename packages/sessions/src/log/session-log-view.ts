import type { SessionLog } from "./session-log.ts";
import type { SessionTree } from "./session-tree.ts";

/** A read-only view of a session's entries: nothing here writes or moves the leaf. */
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
