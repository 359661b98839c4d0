import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import type { BudgetRequest, BudgetResult, RaiseBudget } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
  unpaired,
} from "../../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../create/options/session-options.ts";

type Answer = BudgetResult | RaiseBudget | undefined;

/** A session whose budget asks, and its questions. */
async function asking(
  scenario: Scenario,
  settings: SettingValues,
  answers: readonly Answer[],
  more: Partial<CreateAgentSessionOptions> = {},
) {
  const asked: BudgetRequest[] = [];
  const raiseBudget: RaiseBudget = (request, context) => {
    asked.push(request);
    const answer = answers[asked.length - 1] ?? { stop: true };
    return typeof answer === "function" ? answer(request, context) : answer;
  };
  const places = placesIn(temporaryFolder());
  const test = await createTestSession(scenario, {
    ...places,
    settings: SettingsStore.inMemory({ "task.budget.onExceeded": "ask", ...settings }),
    raiseBudget,
    ...more,
  });
  const kinds = (...types: string[]) =>
    test.events.map(({ type }) => type).filter((type) => types.includes(type));
  const has = (name: string) => existsSync(join(places.cwd, name));
  return { ...test, asked, kinds, has };
}

const touch = (name: string) => toolCall("bash", { command: `echo x >> ${name}` });
const lines = (name: string) => toolCall("bash", { command: `wc -l < ${name}` });
const spent = (content: ReturnType<typeof toolCall> | string, output: number) => ({
  ...turn(content),
  usage: { input: 1, output },
});

describe("a budget that asks", () => {
  it("holds the calls that exceed it, and runs them once it is raised", async () => {
    const scenario = [turn(touch("a")), turn(touch("b")), turn(lines("b")), "done"];
    const test = await asking(scenario, { "task.budget.maxToolCalls": 1 }, [
      (_) => {
        expect(test.has("b")).toBe(false);
        expect(test.session.isStreaming).toBe(true);
        return { limit: 3 };
      },
    ]);
    const result = await test.session.prompt("go");
    expect(result).toMatchObject({ status: "completed", text: "done" });
    expect(test.asked).toMatchObject([
      {
        dimension: "tool_calls",
        limit: 1,
        used: 1,
        setting: "task.budget.maxToolCalls",
        scope: "session",
        title: "Budget: 1 of 1 tool calls used. Continue?",
        promptId: result.promptId,
      },
    ]);
    expect(test.asked[0]?.deadlineAt).toBeGreaterThan(Date.now() + 290_000);
    const outputs = test.session.messages.filter(({ role }) => role === "toolResult");
    expect(JSON.stringify(outputs.at(-1))).toContain('"1\\n"');
    expect(test.kinds("agent_start", "agent_end", "budget_exceeded")).toEqual([
      "agent_start",
      "agent_end",
    ]);
    expect(test.session.budget.limits).toEqual({ maxToolCalls: 3 });
  });

  it("asks before the calls of the reply that used it up, but not after the last reply", async () => {
    const scenario = [spent(touch("a"), 100), spent("done", 900), "more"];
    const test = await asking(scenario, { "task.budget.maxOutputTokens": 100 }, [
      { limit: 500 },
      { limit: 5000 },
    ]);
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect(test.asked).toMatchObject([{ dimension: "output_tokens", limit: 100, used: 100 }]);
    // The next prompt needs more again.
    expect((await test.session.prompt("again")).text).toBe("more");
    expect(test.asked).toHaveLength(2);
    expect(test.asked[1]).toMatchObject({ limit: 500, used: 1000 });
  });

  it.each<[string, Answer]>([
    ["stop", { stop: true }],
    ["an error", () => Promise.reject(new Error("no idea"))],
    ["nothing", () => undefined as never],
    ["a limit that is used up", { limit: 1 }],
    ["a limit that is no number", { limit: "2" } as never],
    ["a limit without an end", { limit: Number.POSITIVE_INFINITY }],
  ])("stops as documented if the answer is %s", async (_, answer) => {
    const scenario = [turn(touch("a")), turn(touch("b")), "never"];
    const test = await asking(scenario, { "task.budget.maxToolCalls": 1 }, [answer]);
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect(test.has("b")).toBe(false);
    expect(test.kinds("budget_exceeded")).toHaveLength(1);
    expect(unpaired(test.session.messages)).toEqual([]);
    await expect(test.session.prompt("again")).rejects.toMatchObject({ code: "budget_exceeded" });
    expect(test.asked).toHaveLength(1);
  });

  it("stops at once if nobody answers", async () => {
    const scenario = [turn(touch("a")), turn(touch("b")), "never"];
    const settings = { "task.budget.maxToolCalls": 1 };
    const test = await asking(scenario, settings, [], { raiseBudget: undefined });
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect(test.has("b")).toBe(false);
    expect(test.kinds("budget_exceeded")).toHaveLength(1);
    await expect(test.session.prompt("again")).rejects.toMatchObject({ code: "budget_exceeded" });
  });

  it("stops when the time for an answer is over", async () => {
    const scenario = [turn(touch("a")), turn(touch("b")), "never"];
    const forever = () => new Promise<never>(() => {});
    const test = await asking(scenario, { "task.budget.maxToolCalls": 1 }, [forever], {
      permissions: { timeoutMs: 20 },
    });
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect(test.has("b")).toBe(false);
  });

  it("continues when a changed limit decides, and stops when questions are switched off", async () => {
    const scenario = [turn(touch("a")), turn(touch("b")), turn(touch("c")), "never"];
    const ended: unknown[] = [];
    const answer = (change: () => void): RaiseBudget => {
      return (_, { signal }) =>
        new Promise<never>(() => {
          signal.addEventListener("abort", () => ended.push(signal.reason));
          change();
        });
    };
    const test = await asking(scenario, { "task.budget.maxToolCalls": 1 }, [
      answer(() => test.session.budget.setLimits({ maxToolCalls: 2 })),
      answer(() => test.session.budget.setLimits({ onExceeded: "stop" })),
    ]);
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect([test.has("b"), test.has("c")]).toEqual([true, false]);
    expect(ended).toMatchObject([
      { by: "rule", outcome: "raised" },
      { by: "rule", outcome: "stopped" },
    ]);
    // Switching questions on again allows a new question.
    test.session.budget.setLimits({ onExceeded: "ask", clear: ["maxToolCalls"] });
    expect(() => test.session.budget.check()).not.toThrow();
  });

  it("is withdrawn by an abort, which does not count as an exhausted budget", async () => {
    const scenario = [turn(touch("a")), turn(touch("b")), turn(touch("c")), "done"];
    const ended: unknown[] = [];
    const test = await asking(scenario, { "task.budget.maxToolCalls": 1 }, [
      (_, { signal }) =>
        new Promise<never>(() => {
          signal.addEventListener("abort", () => ended.push(signal.reason));
          void test.session.abort();
        }),
      { limit: 9 },
    ]);
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect(ended).toMatchObject([{ by: "abort", outcome: "stopped" }]);
    expect(test.kinds("budget_exceeded")).toEqual([]);
    expect((await test.session.prompt("again")).status).toBe("completed");
    expect([test.has("b"), test.has("c")]).toEqual([false, true]);
  });

  it("asks until the calls of a reply have room, and names the calls", async () => {
    const scenario = [turn([touch("a"), touch("b"), touch("c")]), "done"];
    const test = await asking(scenario, { "task.budget.maxToolCalls": 1 }, [
      { limit: 2 },
      { limit: 3 },
    ]);
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect(test.asked.map(({ used, limit, title }) => ({ used, limit, title }))).toEqual([
      {
        used: 0,
        limit: 1,
        title: "Budget: 0 of 1 tool calls used, and 3 more are asked for. Continue?",
      },
      {
        used: 0,
        limit: 2,
        title: "Budget: 0 of 2 tool calls used, and 3 more are asked for. Continue?",
      },
    ]);
    expect(test.has("c")).toBe(true);
  });
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("the wall time of a budget that asks", () => {
  it("does not include the wait for an answer, whatever the question", async () => {
    const scenario = [turn(touch("a")), turn(touch("b")), "done"];
    const test = await asking(
      scenario,
      { "task.budget.maxToolCalls": 1, "task.budget.maxWallTimeMs": 60_000 },
      [() => pause(400).then(() => ({ limit: 5 }))],
      {
        permissions: { mode: "ask" },
        approve: () => pause(300).then(() => ({ decision: "allow" })),
      },
    );
    const startedAt = performance.now();
    expect((await test.session.prompt("go")).status).toBe("completed");
    const passed = performance.now() - startedAt;
    expect(passed - test.session.budget.snapshot.wallTimeMs).toBeGreaterThan(950);
  });

  it("is asked about while a tool works, and the tool continues", async () => {
    const call = toolCall("bash", { command: "while [ ! -e go ]; do sleep 0.05; done; echo ok" });
    const test = await asking([turn(call), "done"], { "task.budget.maxWallTimeMs": 150 }, [
      async () => {
        await test.session.bash.run("touch go");
        await pause(100);
        return { limit: 100_000 };
      },
    ]);
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect(test.asked).toMatchObject([{ dimension: "wall_time", limit: 150 }]);
    expect(test.kinds("agent_end", "budget_exceeded")).toEqual(["agent_end"]);
  });

  it("stops a tool if the answer is no", async () => {
    const call = toolCall("bash", { command: "sleep 660" });
    const settings = { "task.budget.maxWallTimeMs": 100 };
    const test = await asking([turn(call), "never"], settings, [{ stop: true }]);
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect(test.kinds("budget_exceeded")).toHaveLength(1);
  });

  it("ends with the run", async () => {
    const call = toolCall("bash", { command: "sleep 0.5" });
    let reason: unknown;
    const test = await asking([turn(call), "never"], { "task.budget.maxWallTimeMs": 100 }, [
      (_, { signal }) =>
        new Promise<never>(() => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
          });
          void test.session.abort();
        }),
    ]);
    await test.session.prompt("go");
    await expect.poll(() => reason).toMatchObject({ by: "abort", outcome: "stopped" });
  });
});
