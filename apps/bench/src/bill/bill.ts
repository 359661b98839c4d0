/**
 * What the same work costs in dollars, with Tau and with the newest peer:
 * `bench:bill [--only trajectory]… [--vendor name]… [--model id] [--host "argv"] [--requests]`.
 */
import { parseArgs } from "node:util";
import type { Bill } from "@tau-agent/ai/testing";
import { pi, tau } from "../comparison/contestants.ts";
import type { Contestant } from "../comparison/scenario.ts";
import { play } from "./play.ts";
import { trajectories } from "./trajectories/index.ts";
import { vendorChoices } from "./vendors.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    vendor: { type: "string", multiple: true },
    model: { type: "string" },
    host: { type: "string" },
    requests: { type: "boolean", default: false },
  },
});
const contestants = [tau(values.host), pi()];
const vendors = vendorChoices
  .filter(({ vendor }) => values.vendor?.includes(vendor) ?? true)
  .map((choice) => ({ ...choice, model: values.model ?? choice.model }));
for (const trajectory of trajectories) {
  if (!(values.only?.includes(trajectory.name) ?? true)) continue;
  for (const vendor of vendors) {
    const started = performance.now();
    const bills = await Promise.all(
      contestants.map((contestant) =>
        trajectory.isOnlyTaus && contestant.name !== "tau" ? undefined : attempt(contestant),
      ),
    );
    const [own, peer] = bills;
    const dollars = bills.map((bill) => (bill instanceof Object ? bill.costUsd.toFixed(5) : (bill ?? "-")));
    const ratio = own instanceof Object && peer instanceof Object ? own.costUsd / peer.costUsd : Number.NaN;
    const took = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `${trajectory.name.padEnd(14)} ${vendor.vendor.padEnd(10)} ${dollars.join("  ")}  ${ratio.toFixed(3)}  (${took} s)`,
    );
    if (values.requests) {
      for (const [index, bill] of bills.entries()) {
        console.log(contestants[index]?.name);
        if (bill instanceof Object) console.table(bill.requests.map((one) => ({ ...one, costUsd: one.costUsd.toFixed(5) })));
      }
    }
    async function attempt(contestant: Contestant): Promise<Bill | string> {
      try {
        return await play(trajectory, contestant, vendor);
      } catch (error) {
        return error instanceof Error ? error.message.slice(0, 300) : String(error);
      }
    }
  }
}
