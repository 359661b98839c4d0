import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BillingVendor } from "@tau-agent/ai/testing";
import type { VendorChoice } from "./vendors.ts";

/** What a trajectory costs with a vendor, in dollars. */
export interface Cost {
  readonly tau?: number;
  /** With the cheapest peer. */
  readonly peer?: number;
}

type Costs = Readonly<Record<string, Readonly<Partial<Record<BillingVendor, Cost>>>>>;

export interface BillData {
  readonly date: string;
  /** Tau's version, or that of its sources. */
  readonly tau: string;
  readonly peer: string;
  readonly vendors: readonly VendorChoice[];
  readonly failures: readonly string[];
  readonly costs: Costs;
}

/** The run that was kept last, or that of Tau before it was made cheaper. */
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

/** How much of the dollars of a host that does the same: the peer, or Tau before; undefined if neither did. */
export function ratioOf(cost: Cost | undefined, before: Cost | undefined): number | undefined {
  const other = cost?.peer ?? before?.tau;
  return cost?.tau === undefined || other === undefined ? undefined : cost.tau / other;
}
