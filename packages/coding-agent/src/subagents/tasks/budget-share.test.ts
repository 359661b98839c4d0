import { nothingUsed } from "@tau-agent/sessions/log";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { SessionBudget } from "../budgets/session-budget.ts";
import type { BudgetChange } from "../budgets/session-limits.ts";
import { BudgetShare } from "./budget-share.ts";

function shareOf(settings: Record<string, number>, used = nothingUsed) {
  const budget = new SessionBudget(SettingsStore.inMemory(settings));
  const share = new BudgetShare({ budget, count: 2, used: () => used });
  const passed: BudgetChange[] = [];
  const subagent = { setBudget: async (change: BudgetChange) => void passed.push(change) };
  return { budget, share, passed, subagent };
}

describe("a subagent's share of the budget", () => {
  it("follows limits that are raised, lowered or removed while the subagent runs", async () => {
    const used = { ...nothingUsed, outputTokens: 30, subagents: 1 };
    const { budget, share, passed, subagent } = shareOf(
      { "task.budget.maxOutputTokens": 100, "task.budget.maxSubagents": 5 },
      used,
    );
    expect(share.limits).toEqual({ maxOutputTokens: 100, maxSubagents: 2 });
    budget.add({ outputTokens: 50, subagents: 1 });
    await share.bind(subagent);
    expect(passed).toEqual([]);
    budget.setLimits({ maxOutputTokens: 1000, clear: ["maxSubagents"] });
    expect(passed).toEqual([{ maxOutputTokens: 980, clear: ["maxSubagents"] }]);
    budget.setLimits({ maxOutputTokens: 60, maxSubagents: 5 });
    expect(passed.at(-1)).toEqual({ maxOutputTokens: 40, maxSubagents: 3, clear: [] });
    share.end();
    budget.setLimits({ maxOutputTokens: 70 });
    expect(passed).toHaveLength(2);
  });

  it("passes on changes made during the start of the subagent, once it has started", async () => {
    const { budget, share, passed, subagent } = shareOf({ "task.budget.maxToolCalls": 1 });
    budget.setLimits({ maxToolCalls: 9 });
    await share.bind(subagent);
    expect(passed).toEqual([{ maxToolCalls: 9, clear: [] }]);
  });

  it("sends nothing to a subagent that has ended", async () => {
    const { budget, share } = shareOf({ "task.budget.maxToolCalls": 1 });
    await share.bind({ setBudget: () => Promise.reject(new Error("it is gone")) });
    budget.setLimits({ maxToolCalls: 2 });
    await expect(share.bind({ setBudget: () => Promise.reject(new Error()) })).resolves.toBe(
      undefined,
    );
  });
});
