import {
  type ScenarioRequest,
  scriptedModel,
  type Turn,
  text,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { createTestSession, keyless } from "../create/__fixtures__/test-session.ts";
import { fitLimits } from "./prepare.ts";

const isSummary = ({ systemPrompt }: ScenarioRequest) => systemPrompt.includes("summaries");
const long = "word ".repeat(200);

/** A session with these settings, its summary requests, and models of another vendor. */
async function start(
  settings: NonNullable<Parameters<typeof SettingsStore.inMemory>[0]>,
  reply: (request: ScenarioRequest) => Turn | string = (request) =>
    turn(`reply ${long}`, { usage: usageAt(request) }),
  contextWindow = 1_000_000,
) {
  const summaries: ScenarioRequest[] = [];
  const scripted = scriptedModel({ contextWindow });
  const other = scriptedModel({ id: "small/one", provider: "other", cost: cheap });
  const test = await createTestSession(
    (request) => {
      if (!isSummary(request)) return reply(request);
      summaries.push(request);
      return turn(`SUMMARY ${summaries.length}`, { usage: { input: 50, output: 5 } });
    },
    {
      model: scripted,
      providers: [
        keyless("scripted"),
        { ...keyless("other"), models: () => [other] },
        {
          ...keyless("locked"),
          isKeyless: false,
          models: () => [{ ...other, provider: "locked" }],
        },
      ],
      settings: SettingsStore.inMemory({ "compaction.keepRecentTokens": 300, ...settings }),
    },
  );
  return { ...test, summaries };
}

const cheap = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };

/** The size of the request plus a fixed part. */
function usageAt({ messages }: ScenarioRequest) {
  return { input: 500 + Math.ceil(JSON.stringify(messages).length / 4), output: 10 };
}

describe("compaction.thresholdTokens", () => {
  it("compacts a conversation in a context window of any size", async () => {
    const { session, events, summaries } = await start({ "compaction.thresholdTokens": 2000 });
    for (let count = 0; count < 8; count++) await session.prompt(`prompt ${count}`);
    expect(summaries.length).toBeGreaterThan(0);
    expect(events).toContainEqual({ type: "auto_compaction_start", reason: "threshold" });
    expect(session.messages[0]).toMatchObject({ role: "compactionSummary" });
  });

  it.each([
    ["a threshold", 1_000_000, { thresholdTokens: 60_000 }, 60_000],
    ["a large reserve", 1_000_000, { reserveTokens: 940_000 }, 60_000],
    ["the window, where it is nearer", 100_000, { thresholdTokens: 500_000 }, 80_000],
    ["a threshold without a window", 0, { thresholdTokens: 60_000 }, 60_000],
    ["half of a small window", 8000, {}, 4000],
    ["nothing", 0, {}, Infinity],
  ])("compacts at %s", (_, contextWindow, settings, dueTokens) => {
    const limits = { reserveTokens: 20_000, keepRecentTokens: 20_000, ...settings };
    expect(fitLimits(limits, contextWindow).dueTokens).toBe(dueTokens);
  });

  it.each([
    ["10 000 below a threshold", 1_000_000, 10_000, 60_000, 10_000],
    ["nearly a whole window", 200_000, 170_000, undefined, 170_000],
    ["more than half of a small window", 8000, 3000, undefined, 3000],
    ["half of what is allowed, where it can never be kept", 8000, 50_000, undefined, 2000],
    ["the default, in a large window", 1_000_000, 20_000, undefined, 20_000],
    ["less than the default, in a small window", 8000, 20_000, undefined, 2000],
  ])("keeps %s", (_, contextWindow, keepRecentTokens, thresholdTokens, kept) => {
    const limits = { reserveTokens: 20_000, keepRecentTokens, thresholdTokens };
    const fitted = fitLimits(limits, contextWindow);
    expect(fitted.keepRecentTokens).toBe(kept);
    expect(fitted.maxKeptTokens).toBeGreaterThanOrEqual(kept);
  });
});

describe("compaction.model", () => {
  it("writes the summaries, which count towards the session's budget", async () => {
    const { session, summaries } = await start({ "compaction.model": "other/small/one" });
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    const { costUsd } = session.budget.snapshot;
    await session.compact();
    expect(new Set(summaries.map(({ model }) => model))).toEqual(new Set(["small/one"]));
    expect(session.budget.snapshot.costUsd).toBeGreaterThan(costUsd);
    expect(session.stats.cost).toBeCloseTo(session.budget.snapshot.costUsd);
    expect(session.models.model?.id).toBe("scenario");
  });

  it.each([
    ["other/none", /compaction\.model "other\/none": no such model/],
    ["nonsense", /compaction\.model "nonsense": no such model; name one as provider\/id/],
    ["locked/small/one", /compaction\.model "locked\/small\/one": no key for locked/],
  ])(
    "is reported at the start as %s, and the session's own model writes the summaries",
    async (name, problem) => {
      const { session, summaries } = await start({ "compaction.model": name });
      const reported = () => session.diagnostics.filter(({ message }) => problem.test(message));
      expect(reported()).toHaveLength(1);
      for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
      await session.compact();
      expect(new Set(summaries.map(({ model }) => model))).toEqual(new Set(["scenario"]));
      expect(reported()).toHaveLength(1);
    },
  );
});

describe("a request for a summary", () => {
  it("never has an empty conversation, however often one turn is cut", async () => {
    const { session, summaries } = await start(
      { "compaction.thresholdTokens": 2500 },
      (request) => {
        if (request.index > 60) return "done";
        return turn([text(long), toolCall("ls", {})], { usage: usageAt(request) });
      },
    );
    expect(await session.prompt("a long one")).toMatchObject({ status: "completed" });
    expect(summaries.length).toBeGreaterThan(3);
    for (const { lastUserText } of summaries) {
      expect(lastUserText).not.toMatch(/<conversation>\s*<\/conversation>/);
    }
    const compactions = session.log.tree.branch().filter(({ type }) => type === "compaction");
    expect(summaries).toHaveLength(compactions.length);
    const last = summaries.at(-1)?.lastUserText;
    expect(last).toContain(`<previous-summary>\n`);
    expect(last).toContain(`SUMMARY ${summaries.length - 1}`);
  });

  it("is not sent for a branch without messages", async () => {
    const { session, summaries } = await start({});
    await session.prompt("first");
    const target = session.log.tree.leafId ?? "";
    session.setThinkingLevel("low");
    await session.navigation.navigate(target, { summarize: true });
    expect(session.log.tree.leafId).toBe(target);
    expect(summaries).toEqual([]);
  });
});
