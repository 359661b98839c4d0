import type { Bill } from "@tau-agent/ai/testing";
import type { Contestant } from "../comparison/scenario.ts";
import { BillSession } from "./bill-session.ts";
import type { Trajectory } from "./trajectories/trajectory.ts";
import type { VendorChoice } from "./vendors.ts";

/** Measures the cost of a trajectory with a host and a vendor. */
export async function play(
  trajectory: Trajectory,
  contestant: Contestant,
  vendor: VendorChoice,
): Promise<Bill> {
  await using session = await BillSession.start(contestant, vendor, trajectory.needs ?? {});
  await trajectory.play(session);
  if (session.refusal !== undefined) throw new Error(`A request was refused: ${session.refusal}`);
  // A host that skips work must not appear cheap.
  if (session.script.left > 0) throw new Error(`${session.script.left} turns were not asked for`);
  return session.bill;
}
