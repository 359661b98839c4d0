import { existsSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { BudgetRequest, BudgetResult } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../../create/__fixtures__/test-session.ts";
import { scenario } from "../task-tool/__fixtures__/task-call.ts";

type Children = Parameters<typeof scenario>[1];

/** A session whose subagents need more than its budget allows. */
async function asking(
  call: Record<string, unknown>,
  children: Children,
  settings: SettingValues,
  answer: (request: BudgetRequest, index: number) => BudgetResult | Promise<BudgetResult>,
) {
  const asked: BudgetRequest[] = [];
  const places = placesIn(temporaryFolder());
  const test = await createTestSession(scenario(call, children), {
    ...places,
    settings: SettingsStore.inMemory({ "task.budget.onExceeded": "ask", ...settings }),
    raiseBudget: (request) => answer(request, asked.push(request) - 1),
  });
  const ended = await test.session.prompt("go");
  const statuses = () => {
    const result = test.session.messages.find(({ role }) => role === "toolResult");
    const results: { status: string }[] = Reflect.get(
      Object(Reflect.get(Object(result), "details")),
      "results",
    );
    return results.map(({ status }) => status);
  };
  const has = (name: string) => existsSync(join(places.cwd, name));
  const exceeded = () => test.events.filter(({ type }) => type === "budget_exceeded").length;
  return { ...test, asked, ended, statuses, has, exceeded };
}

const touch = (name: string) => turn(toolCall("bash", { command: `echo x >> ${name}` }));

describe("subagents whose budget asks", () => {
  it("are held before their next step, ask with their id, and continue", async () => {
    const child = (step: number) => (step < 3 ? touch(`a${step}`) : "done");
    const settings = { "task.budget.maxToolCalls": 2 };
    const test = await asking(
      { tasks: [{ id: "one", task: "<one>" }] },
      { one: child },
      settings,
      () => ({
        limit: 10,
      }),
    );
    expect(test.ended.status).toBe("completed");
    expect(test.asked).toMatchObject([
      { agentId: "one", dimension: "tool_calls", limit: 2, used: 2, scope: "session" },
    ]);
    expect(test.asked[0]?.title).toBe("Budget (agent one): 2 of 2 tool calls used. Continue?");
    expect(test.statuses()).toEqual(["completed"]);
    expect([test.has("a0"), test.has("a1"), test.has("a2")]).toEqual([true, true, true]);
    expect(test.exceeded()).toBe(0);
  });

  it("share one question while they run in parallel", async () => {
    const child = (step: number) => (step < 2 ? touch(`f${step}`) : "done");
    const tasks = [
      { id: "one", task: "<one>" },
      { id: "two", task: "<two>" },
    ];
    const settings = { "task.budget.maxToolCalls": 3 };
    const test = await asking({ tasks }, { one: child, two: child }, settings, async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { limit: 100 };
    });
    expect(test.statuses()).toEqual(["completed", "completed"]);
    expect(test.asked).toHaveLength(1);
    expect(test.asked[0]?.agentId).toMatch(/^(one|two)$/);
    expect(test.ended.status).toBe("completed");
  });

  it("are all stopped when the answer is no", async () => {
    const child = (name: string) => (step: number) => (step < 4 ? touch(`${name}${step}`) : "done");
    const tasks = [
      { id: "one", task: "<one>" },
      { id: "two", task: "<two>" },
    ];
    const settings = { "task.budget.maxToolCalls": 3 };
    const children = { one: child("one"), two: child("two") };
    const test = await asking({ tasks }, children, settings, () => ({ stop: true }));
    expect(test.statuses()).toEqual(["budget_exceeded", "budget_exceeded"]);
    expect(test.asked).toHaveLength(1);
    expect(test.ended.status).toBe("aborted");
    expect([test.has("one3"), test.has("two3")]).toEqual([false, false]);
    expect(test.exceeded()).toBe(1);
  });

  it("are started once more of them are allowed", async () => {
    const tasks = ["one", "two", "three"].map((id) => ({ id, task: `<${id}>` }));
    const done = () => "done";
    const children = { one: done, two: done, three: done };
    const settings = { "task.budget.maxSubagents": 1, "task.maxConcurrency": 3 };
    const test = await asking({ tasks }, children, settings, (_, index) =>
      index === 0 ? { limit: 2 } : { stop: true },
    );
    expect(test.statuses().toSorted()).toEqual(["budget_exceeded", "completed", "completed"]);
    expect(test.asked).toMatchObject([
      { dimension: "subagents", limit: 1, used: 1, toolCallId: "call" },
      { dimension: "subagents", limit: 2, used: 2 },
    ]);
    expect(test.asked[0]).toHaveProperty("agentId", undefined);
    expect(test.ended.status).toBe("completed");
  });

  it("ask on behalf of nested subagents, with both ids", async () => {
    const nested = turn(toolCall("task", { tasks: [{ id: "inner", task: "<inner>" }] }));
    const children: Children = {
      outer: (step) => (step === 0 ? nested : "outer done"),
      inner: (step) => (step < 2 ? touch(`i${step}`) : "inner done"),
    };
    const settings = { "task.budget.maxToolCalls": 2, "task.maxRecursionDepth": 2 };
    const call = { tasks: [{ id: "outer", task: "<outer>" }] };
    const test = await asking(call, children, settings, () => ({ limit: 20 }));
    expect(test.asked.map(({ agentId }) => agentId)).toEqual(["outer/inner"]);
    expect(test.statuses()).toEqual(["completed"]);
    expect(test.has("i1")).toBe(true);
  });

  it("do not count the waiting time as wall time", async () => {
    const child = (step: number) => (step < 2 ? touch(`a${step}`) : "done");
    const settings = { "task.budget.maxToolCalls": 2, "task.budget.maxWallTimeMs": 60_000 };
    const call = { id: "one", task: "<one>" };
    const startedAt = performance.now();
    const test = await asking(call, { one: child }, settings, async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return { limit: 10 };
    });
    const passed = performance.now() - startedAt;
    expect(passed - test.session.budget.snapshot.wallTimeMs).toBeGreaterThan(450);
  });
});
