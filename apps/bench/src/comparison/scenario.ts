import type { RemoteModelServer } from "../remote-model-server.ts";
import type { Workspace } from "../workspace.ts";

/** One line of the comparison: what is measured, and the targets for Tau. Lower is better in every row. */
export interface RowSpec {
  readonly what: string;
  /** Default: ms. */
  readonly unit?: "ms" | "µs" | "MiB" | "bytes" | "calls" | "×";
  /** The largest acceptable ratio of Tau to the best peer. */
  readonly peer?: number;
  /** The largest acceptable ratio of Tau to the floor. */
  readonly floor?: number;
  /** The largest acceptable value, if a ratio alone is not enough. */
  readonly most?: number;
}

/** The environment in which a contestant works. */
export interface Stage {
  readonly server: RemoteModelServer;
  /** Not shared with other contestants. */
  readonly workspace: Workspace;
  /** Smaller sizes, to check that the scenario works. */
  readonly isQuick: boolean;
}

export interface Contestant {
  readonly name: string;
  readonly version: string;
  readonly command: readonly [string, ...string[]];
  /** Sent before anything else, to get replies as deltas. */
  readonly hello?: { readonly type: string; readonly [field: string]: unknown };
}

/** The results of one turn, by the names of rows. */
type Values<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** Measures once; called repeatedly, alternating with the other contestants. */
export type Turn<Name extends string> = () => Promise<Values<Name>>;

/** Rows that are measured together, because they need the same preparation. */
export interface Scenario<Name extends string = string> {
  readonly rows: Readonly<Record<Name, RowSpec>>;
  /** How many turns each contestant takes. */
  readonly rounds: number;
  /** Turns that are not counted; default 1. */
  readonly warmUps?: number;
  /** Prepares a host; returns the function that takes a turn. */
  host(stage: Stage, contestant: Contestant): Promise<Turn<Name>>;
  /** The same for a program that does the minimum for the same work. */
  floor?(stage: Stage): Promise<Turn<Name>>;
}

/** Checks that a scenario measures the rows it names. */
export function scenario<Name extends string>(given: Scenario<Name>): Scenario {
  return given as Scenario;
}
