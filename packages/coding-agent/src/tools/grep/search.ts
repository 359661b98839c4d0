import type { GlobFilter } from "@tau-agent/system";
import type { SearchRoot } from "../common/search-root.ts";
import type { FoundLine } from "./match-list.ts";

/** A search as both searchers take it. */
export interface Search {
  readonly pattern: string;
  readonly isLiteral: boolean;
  readonly ignoresCase: boolean;
  readonly context: number;
  readonly root: SearchRoot;
  readonly glob: string | undefined;
  /** The glob as a filter for relative paths. */
  readonly filter: GlobFilter | undefined;
  readonly signal: AbortSignal;
  /** How many matches are shown; more may be reported. */
  readonly limit: number;
  /** Takes a line; false ends the search. */
  readonly onLine: (line: FoundLine) => boolean;
}
