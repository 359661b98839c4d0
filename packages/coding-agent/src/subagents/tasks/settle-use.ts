import type { SubagentMeter } from "@tau-agent/sessions/log";
import type { SessionBudget } from "../budgets/session-budget.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

/** Counts what a subagent has used that its events did not tell. */
export async function settleUse(
  subagent: Pick<Subagent, "used">,
  meter: SubagentMeter,
  budget: Pick<SessionBudget, "add">,
): Promise<void> {
  // Another host may know no statistics, or be gone.
  const told = await subagent.used?.().catch(() => undefined);
  const used = told && meter.settle(told);
  if (used !== undefined) budget.add(used);
}
