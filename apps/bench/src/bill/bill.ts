/**
 * Measures what the same work costs in dollars with Tau and with the cheapest peer: the newest pi, or a
 * release of pi installed by npm in another folder. `bench:bill [--only trajectory]… [--vendor name]…
 * [--model id] [--host "argv"] [--peer folder]… [--requests] [--before commit]`. A whole run writes
 * data/bill.json and docs/cost.md; with `--before`, a run of Tau at a commit writes data/bill-before.json.
 */
import { parseArgs } from "node:util";
import type { Bill } from "@tau-agent/ai/testing";
import { pi, piIn, tau } from "../comparison/contestants.ts";
import type { Contestant } from "../comparison/scenario.ts";
import { type Cost, ratioOf, writeBillData } from "./bill-data.ts";
import { writeCostPage } from "./cost-page.ts";
import { play } from "./play.ts";
import { trajectories } from "./trajectories/index.ts";
import type { Trajectory } from "./trajectories/trajectory.ts";
import { type VendorChoice, vendorChoices } from "./vendors.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    vendor: { type: "string", multiple: true },
    model: { type: "string" },
    host: { type: "string" },
    peer: { type: "string", multiple: true, default: [] },
    requests: { type: "boolean", default: false },
    before: { type: "string" },
  },
});
const own = tau(values.host);
const peers = [pi(), ...values.peer.map(piIn)];
const chosen = trajectories.filter(({ name }) => values.only?.includes(name) ?? true);
const vendors = vendorChoices
  .filter(({ vendor }) => values.vendor?.includes(vendor) ?? true)
  .map((choice) => ({ ...choice, model: values.model ?? choice.model }));
const failures: string[] = [];
const costs: Record<string, Record<string, Cost>> = {};
for (const trajectory of chosen) {
  const bills = vendors.map(async (vendor) => [vendor.vendor, await measure(trajectory, vendor)]);
  costs[trajectory.name] = Object.fromEntries(await Promise.all(bills));
}
const isWhole = [values.only, values.vendor, values.model].every((value) => value === undefined);
if (isWhole && failures.length === 0) {
  writeBillData(values.before === undefined ? "bill" : "bill-before", {
    date: new Date().toISOString().slice(0, 10),
    tau: values.before ?? nameOf(own),
    peer: peers.map(nameOf).join(", "),
    vendors,
    failures,
    costs,
  });
  if (values.before === undefined) console.log(`Written: ${writeCostPage().join(", ")}`);
}
if (failures.length > 0) process.exitCode = 1;

async function measure(trajectory: Trajectory, vendor: VendorChoice): Promise<Cost> {
  const started = performance.now();
  const isAlone = trajectory.isOnlyTaus || values.before !== undefined;
  const [bill, ...others] = await Promise.all(
    [own, ...(isAlone ? [] : peers)].map((one) => attempt(trajectory, one, vendor)),
  );
  const peer = Math.min(...others.flatMap((other) => other?.costUsd ?? []));
  const cost = {
    ...(bill && { tau: bill.costUsd }),
    ...(Number.isFinite(peer) && { peer }),
  };
  const cells = [
    trajectory.name.padEnd(14),
    vendor.vendor.padEnd(10),
    ...[bill, ...others].map((one) => (one?.costUsd.toFixed(5) ?? "–").padStart(9)),
    (ratioOf(cost, undefined)?.toFixed(3) ?? "–").padStart(7),
    `${((performance.now() - started) / 1_000).toFixed(1)} s`.padStart(7),
  ];
  console.log(cells.join("  "));
  if (values.requests) for (const one of [bill, ...others]) show(one);
  return cost;
}

async function attempt(
  trajectory: Trajectory,
  contestant: Contestant,
  vendor: VendorChoice,
): Promise<Bill | undefined> {
  try {
    return await play(trajectory, contestant, vendor);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const failure = `${trajectory.name} with ${vendor.vendor} and ${nameOf(contestant)}: ${why}`;
    console.log(`failed: ${failure.slice(0, 1_000)}`);
    // An older release may lack a feature that a trajectory needs, which is not a failure.
    if (contestant === own || contestant === peers[0]) failures.push(failure);
    return undefined;
  }
}

function show(bill: Bill | undefined): void {
  console.table(bill?.requests.map((one) => ({ ...one, costUsd: one.costUsd.toFixed(5) })));
}

function nameOf({ name, version }: Contestant): string {
  return `${name} ${version}`;
}
