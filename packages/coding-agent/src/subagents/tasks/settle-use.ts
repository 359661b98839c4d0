import type { SubagentMeter } from "@tau-agent/sessions/log";
import type { SessionBudget } from "../budgets/session-budget.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

/** Counts the use of a subagent that its events did not report. */
export async function settleUse(
  subagent: Pick<Subagent, "used">,
  meter: SubagentMeter,
  budget: Pick<SessionBudget, "add">,
): Promise<void> {
  // The subagent's host may not support statistics, or have exited.
  const told = await subagent.used?.().catch(() => undefined);
  const used = told && meter.settle(told);
  if (used !== undefined) budget.add(used);
}
