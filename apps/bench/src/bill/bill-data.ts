import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BillingVendor } from "@tau-agent/ai/testing";
import type { VendorChoice } from "./vendors.ts";

/** The cost of a trajectory with a vendor, in dollars. */
export interface Cost {
  readonly tau?: number;
  /** The cost with the cheapest peer. */
  readonly peer?: number;
}

type Costs = Readonly<Record<string, Readonly<Partial<Record<BillingVendor, Cost>>>>>;

export interface BillData {
  readonly date: string;
  /** Tau's version or commit. */
  readonly tau: string;
  readonly peer: string;
  readonly vendors: readonly VendorChoice[];
  readonly failures: readonly string[];
  readonly costs: Costs;
}

/** The latest kept run, or the one of Tau before its costs were reduced. */
export type KeptRun = "bill" | "bill-before";

export function readBillData(name: KeptRun): BillData {
  return JSON.parse(readFileSync(pathOf(name), "utf8"));
}

export function writeBillData(name: KeptRun, data: BillData): void {
  writeFileSync(pathOf(name), `${JSON.stringify(data, null, 2)}\n`);
}

function pathOf(name: KeptRun): string {
  return fileURLToPath(new URL(`../../data/${name}.json`, import.meta.url));
}

/** A host's cost relative to another's: the peer, or Tau before; undefined if neither completed the trajectory. */
export function ratioOf(cost: Cost | undefined, before: Cost | undefined): number | undefined {
  const other = cost?.peer ?? before?.tau;
  return cost?.tau === undefined || other === undefined ? undefined : cost.tau / other;
}
