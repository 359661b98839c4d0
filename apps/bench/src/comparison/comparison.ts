import type { Summary } from "../measurement.ts";
import type { RowSpec } from "./scenario.ts";

export interface Comparison extends RowSpec {
  readonly unit: NonNullable<RowSpec["unit"]>;
  readonly name: string;
  readonly tau?: Summary;
  readonly peers: readonly { readonly name: string; readonly result: Summary }[];
  readonly floorResult?: Summary;
  /** The contestants that failed, and why. */
  readonly failures: readonly string[];
}

/** The peer with the lowest median. */
export function bestPeer({ peers }: Comparison): Comparison["peers"][number] | undefined {
  return peers.toSorted((a, b) => a.result.median - b.result.median)[0];
}

export function peerRatio(row: Comparison): number | undefined {
  return ratio(row.tau, bestPeer(row)?.result);
}

export function floorRatio(row: Comparison): number | undefined {
  return ratio(row.tau, row.floorResult);
}

/** Whether Tau was measured and meets all targets for which there is something to compare with. */
export function holds(row: Comparison): boolean {
  return (
    row.tau !== undefined &&
    isWithin(peerRatio(row), row.peer) &&
    isWithin(floorRatio(row), row.floor) &&
    isWithin(row.tau.median, row.most)
  );
}

/** Whether there is a result for everything that the row's targets compare with. */
export function isCompared(row: Comparison): boolean {
  const lacksPeer = row.peer !== undefined && peerRatio(row) === undefined;
  const lacksFloor = row.floor !== undefined && floorRatio(row) === undefined;
  return !lacksPeer && !lacksFloor;
}

function ratio(tau: Summary | undefined, other: Summary | undefined): number | undefined {
  return tau && other ? tau.median / other.median : undefined;
}

/** A ratio that rounds to the target is within it: the table shows two digits. */
function isWithin(value: number | undefined, target: number | undefined): boolean {
  return value === undefined || target === undefined || value < target + 0.005;
}
