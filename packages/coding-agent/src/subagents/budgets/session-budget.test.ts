import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { nothingUsed, SubagentMeter } from "@tau-agent/sessions/log";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import { SessionBudget } from "./session-budget.ts";

const reply = (tokens: number, calls = 0): SessionEvent => ({
  type: "message_end",
  message: {
    role: "assistant",
    content: Array.from({ length: calls }, (_, index) => ({
      type: "toolCall",
      id: `c${index}`,
      name: "bash",
      arguments: {},
    })),
    api: "x",
    provider: "x",
    model: "x",
    usage: {
      input: tokens,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: tokens + 1,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: tokens / 100 },
    },
    stopReason: "stop",
    timestamp: 0,
  },
});

function budgetWith(given: SettingValues | SettingsStore) {
  const settings = given instanceof SettingsStore ? given : SettingsStore.inMemory(given);
  const reported: SessionEvent[] = [];
  let listener: (event: SessionEvent) => void = () => {};
  let aborts = 0;
  const budget = new SessionBudget(settings);
  budget.attach({
    subscribe: (added) => {
      listener = added;
      return () => undefined;
    },
    report: (event) => void reported.push(event),
    abort: async () => {
      aborts += 1;
    },
    log: { totals: { consumption: nothingUsed, runTimeMs: 0 } },
  });
  const tell = async (event: SessionEvent) => {
    listener(event);
    await Promise.resolve();
  };
  return { budget, reported, tell, aborts: () => aborts };
}

const shown = (events: readonly SessionEvent[]) =>
  events.map((event) =>
    event.type === "budget_warning" || event.type === "budget_exceeded"
      ? `${event.type} ${event.snapshot.reason} ${event.snapshot.status}`
      : event.type,
  );

describe("the budget of a session", () => {
  it("warns once per dimension, reports an exceeded limit once, and stops the run", async () => {
    const { budget, reported, tell, aborts } = budgetWith({
      "task.budget.maxInputTokens": 100,
      "task.budget.maxCostUsd": 1.1,
    });
    await tell({ type: "agent_start" });
    await tell(reply(79));
    expect(shown(reported)).toEqual([]);
    await tell(reply(2));
    await tell(reply(2));
    expect(shown(reported)).toEqual(["budget_warning input_tokens warning"]);
    await tell(reply(30));
    await tell(reply(30));
    expect(shown(reported).slice(1)).toEqual([
      "budget_warning cost exceeded",
      "budget_exceeded input_tokens exceeded",
    ]);
    expect(aborts()).toBe(1);
    expect(budget.signal.aborted).toBe(true);
    expect(() => budget.check()).toThrow(
      /input_tokens reached 143 of 100 \(task\.budget\.maxInputTokens\)/,
    );
    expect(budget.snapshot).toMatchObject({ inputTokens: 143, outputTokens: 5, totalTokens: 148 });
  });

  it.each([
    ["maxWallTimeMs", "wall_time"],
    ["maxInputTokens", "input_tokens"],
    ["maxOutputTokens", "output_tokens"],
    ["maxTotalTokens", "total_tokens"],
    ["maxCostUsd", "cost"],
    ["maxToolCalls", "tool_calls"],
    ["maxSubagents", "subagents"],
  ] as const)(
    "has the limit %s, which is reported as %s when exceeded [pisces.budget.dimensions]",
    async (limit, reason) => {
      const { budget, reported, tell } = budgetWith({ [`task.budget.${limit}`]: 0.5 });
      await tell({ type: "agent_start" });
      if (reason === "subagents") {
        await budget.takeSubagent();
        await expect(budget.takeSubagent()).rejects.toThrow(/maxSubagents/);
      }
      await tell(reply(100, 2));
      const isCrossed = () => reported.find(({ type }) => type === "budget_exceeded");
      await expect.poll(isCrossed).toMatchObject({ scope: "session", snapshot: { reason } });
      expect(() => budget.check()).toThrow(`task.budget.${limit}`);
    },
  );

  it("counts the wait before a retry as time of the run, and ends it", async () => {
    const { budget, reported, tell, aborts } = budgetWith({ "task.budget.maxWallTimeMs": 60 });
    await tell({ type: "agent_start" });
    await tell({ type: "agent_end", messages: [], willRetry: true });
    await expect.poll(aborts).toBe(1);
    expect(shown(reported)).toContain("budget_exceeded wall_time exceeded");
    await tell({ type: "agent_settled", aborted: true });
    const { wallTimeMs } = budget.snapshot;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(budget.snapshot.wallTimeMs).toBe(wallTimeMs);
  });

  it("continues once the limit is raised, and stops again at the new limit", async () => {
    const { budget, reported, tell } = budgetWith({ "task.budget.maxTotalTokens": 10 });
    await tell({ type: "agent_start" });
    await tell(reply(20));
    expect(() => budget.check()).toThrow();
    budget.setLimits({ maxTotalTokens: 100 });
    expect(() => budget.check()).not.toThrow();
    expect(budget.signal.aborted).toBe(false);
    await tell(reply(100));
    expect(shown(reported).filter((line) => line.startsWith("budget_exceeded"))).toHaveLength(2);
    budget.setLimits({ clear: ["maxTotalTokens"] });
    expect(() => budget.check()).not.toThrow();
  });

  it("continues once the setting behind the limit is raised", async () => {
    const settings = SettingsStore.inMemory({ "task.budget.maxInputTokens": 100 });
    const { budget, reported, tell } = budgetWith(settings);
    await tell({ type: "agent_start" });
    await tell(reply(100));
    expect(() => budget.check()).toThrow(/maxInputTokens/);
    const ended = budget.signal;
    settings.override("task.budget.maxInputTokens", 300);
    expect(() => budget.check()).not.toThrow();
    expect([ended.aborted, budget.signal.aborted]).toEqual([true, false]);
    await tell(reply(200));
    expect(() => budget.check()).toThrow(/300/);
    expect(shown(reported).filter((line) => line.startsWith("budget_exceeded"))).toHaveLength(2);
  });

  it("allows exactly as many tool calls and subagents as the limit", async () => {
    const { budget, tell, aborts } = budgetWith({
      "task.budget.maxToolCalls": 2,
      "task.budget.maxSubagents": 1,
    });
    await tell({ type: "agent_start" });
    await tell(reply(1, 2));
    expect(aborts()).toBe(0);
    await budget.takeSubagent();
    await expect(budget.takeSubagent()).rejects.toThrow(/maxSubagents/);
    const other = budgetWith({ "task.budget.maxToolCalls": 2 });
    await other.tell({ type: "agent_start" });
    await other.tell(reply(1, 3));
    expect(other.aborts()).toBe(1);
  });

  it("warns again after a limit has changed, but not after it was set to the same value", async () => {
    const { budget, reported, tell } = budgetWith({ "task.budget.maxInputTokens": 100 });
    await tell(reply(85));
    budget.setLimits({ maxInputTokens: 100 });
    await Promise.resolve();
    expect(shown(reported)).toEqual(["budget_warning input_tokens warning"]);
    budget.setLimits({ maxInputTokens: 105 });
    await Promise.resolve();
    expect(reported).toHaveLength(2);
  });

  it("refuses everything at a limit of 0, without a warning", () => {
    const { budget, reported } = budgetWith({ "task.budget.maxCostUsd": 0 });
    expect(() => budget.check()).toThrow(/maxCostUsd/);
    expect(reported).toEqual([]);
  });

  it("notices the end of the wall time while nothing else happens", async () => {
    const { reported, tell, aborts } = budgetWith({ "task.budget.maxWallTimeMs": 40 });
    await tell({ type: "agent_start" });
    // On a busy machine, both may come at once; then the warning also says exceeded.
    const lines = () => shown(reported).map((line) => line.replace(/ \w+$/, ""));
    await expect.poll(lines).toEqual(["budget_warning wall_time", "budget_exceeded wall_time"]);
    expect(aborts()).toBe(1);
  });

  it("counts only the time of runs", async () => {
    const { budget, tell } = budgetWith({ "task.budget.maxWallTimeMs": 60_000 });
    await tell({ type: "agent_start" });
    await tell({ type: "agent_end", messages: [] });
    const before = budget.snapshot.wallTimeMs;
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect(budget.snapshot.wallTimeMs).toBe(before);
  });

  it("gives the remaining budget to children", async () => {
    const { budget, tell } = budgetWith({
      "task.budget.maxTotalTokens": 100,
      "task.budget.maxSubagents": 5,
    });
    await tell(reply(39));
    await budget.takeSubagent();
    expect(budget.remaining(2)).toEqual({ maxTotalTokens: 60, maxSubagents: 2 });
  });
});

describe("the meter of a subagent", () => {
  it("counts its replies, and the use that its own subagents report, once", () => {
    const meter = new SubagentMeter();
    meter.note(reply(9, 1));
    const used = { ...meter.total, totalTokens: 30 };
    const progress = (totalTokens: number): SessionEvent => ({
      type: "tool_execution_update",
      toolCallId: "t",
      toolName: "task",
      args: {},
      partialResult: { content: [], details: { used: { ...used, totalTokens } } },
    });
    expect(meter.note(progress(30))).toMatchObject({ totalTokens: 30 });
    expect(meter.note(progress(50))).toMatchObject({ totalTokens: 20, toolCalls: 0 });
    expect(meter.total).toMatchObject({ totalTokens: 60, toolCalls: 2 });
    const end: SessionEvent = {
      type: "tool_execution_end",
      toolCallId: "t",
      toolName: "task",
      result: { content: [], details: { used: { ...used, totalTokens: 55 } } },
      isError: false,
    };
    expect(meter.note(end)).toMatchObject({ totalTokens: 5, toolCalls: 0 });
    const start = { type: "subagent_start", id: "x", agent: "task", isolated: false } as const;
    expect(meter.note(start)).toMatchObject({ subagents: 1, totalTokens: 0 });
    const { total } = meter;
    expect(meter.note({ type: "agent_start" })).toBeUndefined();
    expect(meter.total).toBe(total);
  });
});
