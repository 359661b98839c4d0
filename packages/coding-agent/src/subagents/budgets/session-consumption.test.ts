import { readFileSync, writeFileSync } from "node:fs";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../create/options/session-options.ts";

const long = "word ".repeat(120);
const usage = { input: 100, output: 10 };

/** "delegate" starts one subagent; everything else gets an immediate answer. */
function start(places: CreateAgentSessionOptions, settings: SettingValues = {}) {
  return createTestSession(
    ({ messages, lastUserText, toolResults }) => {
      if (lastUserText.startsWith("<conversation>")) return turn("SUMMARY", { usage });
      const isParent = messages.some(
        ({ role, content }) => role === "user" && String(content).includes("delegate"),
      );
      if (isParent && lastUserText.endsWith("delegate") && toolResults.length === 0) {
        return turn(toolCall("task", { task: "look" }), { usage });
      }
      return turn(`reply ${long}`, { usage });
    },
    { ...places, settings: SettingsStore.inMemory(settings) },
  );
}

const budgetEvents = (events: readonly SessionEvent[]) =>
  events.map(({ type }) => type).filter((type) => type.startsWith("budget_"));

describe("the consumption of a session", () => {
  it("includes its subagents in statistics and budget, and reports their share", async () => {
    const { session } = await start(placesIn(temporaryFolder()));
    await session.prompt("delegate");
    const { stats } = session;
    expect(stats).toMatchObject({ cost: 0, toolCalls: 1, assistantMessages: 2 });
    expect(stats.tokens).toMatchObject({ input: 300, output: 30, total: 330 });
    expect(stats.subagents).toMatchObject({ count: 1, tokens: { input: 100, output: 10 } });
    expect(session.budget.snapshot).toMatchObject({
      inputTokens: 300,
      outputTokens: 30,
      totalTokens: 330,
      toolCalls: 1,
      subagents: 1,
    });
    expect(Object.keys(session.budget.snapshot)).not.toContain("cacheReadTokens");
  });

  it("has no member for subagents if there were none", async () => {
    const { session } = await start(placesIn(temporaryFolder()));
    await session.prompt("hello");
    expect(session.stats).not.toHaveProperty("subagents");
  });

  it("continues when another host resumes the session", async () => {
    const places = placesIn(temporaryFolder());
    const first = await start(places);
    await first.session.prompt("delegate");
    const { tokens, subagents } = first.session.stats;
    const { wallTimeMs, ...used } = first.session.budget.snapshot;
    await first.session.dispose();
    const limits = { "task.budget.maxInputTokens": 350 };
    const again = await start({ ...places, session: { kind: "latest" } }, limits);
    expect(again.session.stats).toMatchObject({ tokens, subagents });
    expect(again.session.budget.snapshot).toMatchObject(used);
    // Only the timestamps of entries remain of the runs, in whole milliseconds.
    expect(again.session.budget.snapshot.wallTimeMs).toBeLessThanOrEqual(wallTimeMs + 5);
    await expect(again.session.prompt("more")).resolves.toMatchObject({ status: "aborted" });
    await expect(again.session.prompt("more")).rejects.toThrow(/input_tokens reached 400 of 350/);
    expect(budgetEvents(again.events)).toEqual(["budget_warning", "budget_exceeded"]);
  });

  it("includes the use of subagents whose host was killed, once", async () => {
    const places = placesIn(temporaryFolder());
    const first = await start(places);
    await first.session.prompt("delegate");
    await first.session.dispose();
    const path = first.session.log.path ?? "";
    const lines = readFileSync(path, "utf8").split("\n");
    // The file as it was while the subagent was working.
    const end = lines.findIndex((line) => line.includes('"role":"toolResult"'));
    writeFileSync(path, `${lines.slice(0, end).join("\n")}\n`);
    const killed = readFileSync(path, "utf8");
    const again = await start({ ...places, session: { kind: "latest" } });
    const used = {
      tokens: { input: 200, output: 20 },
      subagents: { count: 1, tokens: { input: 100 } },
    };
    expect(again.session.stats).toMatchObject({ ...used, toolCalls: 1, toolResults: 1 });
    expect(again.session.budget.snapshot).toMatchObject({ inputTokens: 200, subagents: 1 });
    expect(again.session.messages.at(-1)).toMatchObject({
      role: "toolResult",
      toolName: "task",
      isError: true,
      details: { interrupted: true, results: [{ agent: "task", status: "aborted" }] },
    });
    expect(readFileSync(path, "utf8")).toBe(killed);
    await again.session.prompt("hello");
    const { messages, stats } = again.session;
    await again.session.dispose();
    const third = await start({ ...places, session: { kind: "latest" } });
    expect(third.session.messages).toEqual(messages);
    expect(third.session.stats).toMatchObject({ tokens: stats.tokens, subagents: stats.subagents });
    expect(stats).toMatchObject({ tokens: { input: 300 }, subagents: { count: 1 } });
  });

  it("refuses the first prompt if it exceeds a limit on resuming", async () => {
    const places = placesIn(temporaryFolder());
    const first = await start(places);
    await first.session.prompt("delegate");
    await first.session.dispose();
    const limits = { "task.budget.maxSubagents": 0 };
    const again = await start({ ...places, session: { kind: "latest" } }, limits);
    expect(again.session.budget.snapshot.status).toBe("exceeded");
    await expect(again.session.prompt("more")).rejects.toThrow(/subagents reached 1 of 0/);
    expect(again.events).toEqual([]);
    again.session.budget.setLimits({ maxSubagents: 1 });
    await expect(again.session.prompt("more")).resolves.toMatchObject({ status: "completed" });
  });

  it("starts from zero in a new session, returns with the old one, and follows a fork", async () => {
    const { session } = await start(placesIn(temporaryFolder()), {
      "task.budget.maxInputTokens": 250,
    });
    await session.prompt("first");
    await session.prompt("second");
    const old = session.log.path ?? "";
    await expect(session.prompt("third")).resolves.toMatchObject({ status: "aborted" });
    await expect(session.prompt("fourth")).rejects.toThrow(/maxInputTokens/);
    const [, second] = session.navigation.forkMessages();
    await session.newSession();
    expect(session.budget.snapshot).toMatchObject({ status: "ok", inputTokens: 0, wallTimeMs: 0 });
    await expect(session.prompt("new")).resolves.toMatchObject({ status: "completed" });
    await session.navigation.switchSession(old);
    expect(session.budget.snapshot).toMatchObject({ status: "exceeded", inputTokens: 300 });
    await expect(session.prompt("fourth")).rejects.toThrow(/maxInputTokens/);
    await session.navigation.fork(second?.entryId ?? "");
    expect(session.budget.snapshot).toMatchObject({ status: "ok", inputTokens: 100 });
    await expect(session.prompt("second")).resolves.toMatchObject({ status: "completed" });
  });

  it("includes summaries, even failed ones", async () => {
    const places = placesIn(temporaryFolder());
    const { session } = await start(places, { "compaction.keepRecentTokens": 100 });
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    const before = session.budget.snapshot.inputTokens;
    await session.compact();
    expect(session.budget.snapshot.inputTokens).toBeGreaterThan(before);
    expect(session.budget.snapshot.inputTokens).toBe(session.stats.tokens.input);
    await session.prompt("fourth");
    const { inputTokens } = session.budget.snapshot;
    await session.dispose();
    const again = await createTestSession(
      () => turn("cut off", { stopReason: "length", usage: { input: 70, output: 7 } }),
      {
        ...places,
        session: { kind: "latest" },
        settings: SettingsStore.inMemory({ "compaction.keepRecentTokens": 100 }),
      },
    );
    const { messages } = again.session;
    await expect(again.session.compact()).rejects.toMatchObject({ code: "summary_failed" });
    expect(again.session.messages).toEqual(messages);
    expect(again.session.budget.snapshot.inputTokens).toBe(inputTokens + 70);
    expect(again.session.stats.tokens.input).toBe(inputTokens + 70);
  });
});
