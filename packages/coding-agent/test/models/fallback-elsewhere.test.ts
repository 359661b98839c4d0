/**
 * Fallbacks combined with other features of a session: budgets, subagents, summaries, queues, and answers with a
 * schema.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { overloaded, type Scenario, text, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import {
  eventOf,
  isType,
  placesIn,
  temporaryFolder,
  userTexts,
} from "../../src/create/__fixtures__/test-session.ts";
import { project, verified, write } from "../../src/subagents/task-tool/__fixtures__/task-call.ts";
import {
  createFallbackSession,
  down,
  fallbacksOf,
  quickSettings,
  writers,
} from "./__fixtures__/fallback-session.ts";

const isSummary = ({ systemPrompt }: { systemPrompt: string }) =>
  systemPrompt.includes("summaries");
const long = "word ".repeat(300);

/** Answers everything except requests for a summary. */
const noSummaries: Scenario = (request) =>
  isSummary(request) ? turn("", { fault: overloaded() }) : `reply ${long}`;

describe("a summary", () => {
  it("is written by a fallback, which continues the conversation", async () => {
    const settings = quickSettings({ "compaction.keepRecentTokens": 300 });
    const test = await createFallbackSession(
      { a: noSummaries, b: (request) => (isSummary(request) ? "SUMMARY of b" : "b") },
      { settings },
    );
    const { session } = test;
    for (const prompt of ["1", "2", "3"]) await session.prompt(prompt);
    expect(await session.compact()).toMatchObject({
      summary: expect.stringContaining("SUMMARY of b"),
    });
    expect(fallbacksOf(test)).toEqual(["a/one b/one overloaded"]);
    await session.prompt("4");
    expect(writers(test).at(-1)).toBe("b/one");
  });

  it("fails as usual if no fallback is left", async () => {
    const settings = quickSettings({ "compaction.keepRecentTokens": 300 });
    const test = await createFallbackSession({ a: noSummaries, b: down() }, { settings });
    for (const prompt of ["1", "2", "3"]) await test.session.prompt(prompt);
    await expect(test.session.compact()).rejects.toMatchObject({ code: "summary_failed" });
  });

  it("written during a run leaves the run with the model that wrote it", async () => {
    const settings = quickSettings({ "compaction.keepRecentTokens": 100 });
    const usage = { input: 195_000, output: 10 };
    const fills: Scenario = (request) =>
      isSummary(request)
        ? turn("", { fault: overloaded() })
        : turn([text(long), toolCall("ls", { path: "." })], { usage });
    const other: Scenario = (request) => (isSummary(request) ? "SUMMARY" : "done");
    const models = { b: { contextWindow: 400_000 } };
    const test = await createFallbackSession({ a: fills, b: other }, { settings, models });
    expect(await test.session.prompt(long)).toMatchObject({ status: "completed", text: "done" });
    expect(fallbacksOf(test)).toEqual(["a/one b/one overloaded"]);
    expect(test.events.filter(isType("auto_compaction_end"))).toMatchObject([{ aborted: false }]);
  });
});

describe("a budget", () => {
  const costs = { usage: { input: 1000, output: 1000 } };

  it("includes failed attempts and the fallback's usage", async () => {
    const half = { ...costs, fault: { kind: "truncate", afterDeltas: 1 } as const };
    const test = await createFallbackSession({
      a: () => turn("half", half),
      b: () => turn("whole", costs),
    });
    await test.session.prompt("hi");
    const used = test.events.flatMap((event) =>
      event.type === "message_end" && event.message.role === "assistant"
        ? [event.message.usage.output]
        : [],
    );
    const total = used.reduce((sum, output) => sum + output, 0);
    expect(used.at(-1)).toBe(1000);
    expect(test.session.stats.tokens.output).toBe(total);
  });

  it("lets no fallback answer once it is used up", async () => {
    const settings = quickSettings({ "task.budget.maxOutputTokens": 1000 });
    const spends: Scenario = ({ index }) =>
      index === 0
        ? turn([toolCall("ls", { path: "." })], costs)
        : turn("", { fault: overloaded() });
    const test = await createFallbackSession({ a: spends, b: ["never"] }, { settings });
    expect(await test.session.prompt("hi")).toMatchObject({ code: "budget_exceeded" });
    expect(fallbacksOf(test)).toEqual([]);
  });

  it("ends a fallback's work", async () => {
    const settings = quickSettings({ "task.budget.maxOutputTokens": 1500 });
    const works = () => turn([toolCall("ls", { path: "." })], costs);
    const test = await createFallbackSession({ a: down(), b: works }, { settings });
    expect(await test.session.prompt("hi")).toMatchObject({ code: "budget_exceeded" });
    expect(writers(test)).toContain("b/one");
  });
});

describe("a subagent", () => {
  const delegates =
    (agent?: string): Scenario =>
    ({ lastUserText, toolResults }) => {
      if (!lastUserText.includes("delegate")) return turn("", { fault: overloaded() });
      if (toolResults.length > 0) return `It said: ${toolResults[0]?.text}`;
      return turn(toolCall("task", { task: "look", ...(agent === undefined ? {} : { agent }) }));
    };
  const fallbackOfSubagents = (events: readonly SessionEvent[]) =>
    events.flatMap((event) =>
      event.type === "subagent_event" && event.event.type === "model_fallback"
        ? [`${event.event.from} ${event.event.to}`]
        : [],
    );

  it("has the fallbacks of its session", async () => {
    const test = await createFallbackSession({ a: delegates(), b: ["looked"], c: ["c"] });
    await test.session.setSubagentLevel("all");
    const { text: said } = await test.session.prompt("delegate");
    expect(said).toContain("looked");
    expect(fallbackOfSubagents(test.events)).toEqual(["a/one b/one"]);
    expect(writers(test)).toEqual(["a/one", "a/one"]);
  });

  it("has its profile's fallbacks instead", async () => {
    const { models: _, ...places } = placesIn(temporaryFolder());
    const agents = join(places.agentDirectory ?? "", "agents");
    mkdirSync(agents, { recursive: true });
    const profile = (names: string) =>
      `---\nname: scout\ndescription: Looks.\nfallbackModels: ${names}\n---\nLook.`;
    writeFileSync(join(agents, "scout.md"), profile("c/one, b/one"));
    const vendors = { a: delegates("scout"), b: ["b looked"], c: ["c looked"] };
    const test = await createFallbackSession(vendors, places);
    await test.session.setSubagentLevel("all");
    expect(await test.session.prompt("delegate")).toMatchObject({
      text: expect.stringContaining("c looked"),
    });
    expect(fallbackOfSubagents(test.events)).toEqual(["a/one c/one"]);
    writeFileSync(join(agents, "scout.md"), profile("c/on"));
    const wrong = await createFallbackSession({ ...vendors, a: delegates("scout") }, places);
    expect(await wrong.session.prompt("delegate")).toMatchObject({
      text: expect.stringMatching(/c\/on\. Did you mean c\/one/),
    });
  });
});

describe("the repair of a subagent's answer", () => {
  it("is requested from the fallback that did the work, and both replies are checked", async () => {
    const delegates: Scenario = ({ lastUserText, toolResults }) => {
      if (!lastUserText.includes("delegate")) return turn("", { fault: overloaded() });
      if (toolResults.length > 0) return "done";
      const verify = {
        commands: [{ name: "check", command: "grep -q right a.txt" }],
        onFailure: "retry_once",
      };
      return turn(toolCall("task", { task: "work", isolated: true, verify }));
    };
    const works: Scenario = ({ index }) => {
      if (index % 2 === 1) return `answer ${index}`;
      return write("a.txt", index === 0 ? "wrong\n" : "right\n");
    };
    const settings = quickSettings(verified);
    const { models: _, ...places } = project();
    const test = await createFallbackSession({ a: delegates, b: works }, { ...places, settings });
    await test.session.setSubagentLevel("all");
    await test.session.prompt("delegate");
    const result = test.session.messages.find(({ role }) => role === "toolResult");
    expect(Reflect.get(Object(result), "details")).toMatchObject({
      results: [
        {
          output: "answer 3",
          verification: { status: "passed", retriesUsed: 1 },
          patch: { status: "applied" },
        },
      ],
    });
    // The chosen model is not retried before the cooldown, and the change is reported once.
    const fallbacks = test.events.flatMap((event) =>
      event.type === "subagent_event" && event.event.type === "model_fallback"
        ? [event.event.to]
        : [],
    );
    expect(fallbacks).toEqual(["b/one"]);
  });
});

describe("clearing of old tool results", () => {
  const reads: Scenario = ({ lastUserText, messages }) => {
    const [word, path = ""] = lastUserText.split(" ");
    const isAsked = messages.at(-1)?.role === "user";
    return word === "read" && isAsked ? turn(toolCall("read", { path })) : "done";
  };
  const dear = { input: 1, output: 1, cacheRead: 0.001, cacheWrite: 1000 };

  it.each([
    ["pays", undefined, dear],
    ["costs more than it saves", dear, undefined],
  ] as const)(
    "follows the prices of the answering model, where it %s",
    async (outcome, cost, chosen) => {
      const settings = quickSettings();
      const models = { a: chosen && { cost: chosen }, b: cost && { cost } };
      const places = placesIn(temporaryFolder());
      for (const name of ["a", "b", "c"]) {
        writeFileSync(join(places.cwd, name), `${name}\n${`${"word ".repeat(20)}\n`.repeat(1000)}`);
      }
      const test = await createFallbackSession(
        { a: down(), b: reads },
        { ...places, settings, models: models as Record<string, Partial<Model>> },
      );
      for (const prompt of ["read a", "read b", "read c", "4", "5", "6"])
        await test.session.prompt(prompt);
      expect(new Set(writers(test))).toEqual(new Set(["b/one"]));
      const cleared = test.written().filter(({ customType }) => customType === "cleared_results");
      expect(cleared.length > 0).toBe(outcome === "pays");
    },
  );
});

describe("during a fallback", () => {
  it("a message reaches the fallback", async () => {
    const settings = quickSettings({ "retry.baseDelayMs": 50 });
    const seen: string[] = [];
    const hears: Scenario = ({ lastUserText }) => {
      seen.push(lastUserText);
      return "heard";
    };
    const test = await createFallbackSession({ a: down(), b: hears }, { settings });
    const running = test.session.prompt("first");
    await eventOf(test, isType("auto_retry_start"));
    await test.session.steer("second");
    expect(await running).toMatchObject({ status: "completed" });
    await test.session.waitForIdle();
    expect(userTexts(test.session.messages)).toEqual(["first", "second"]);
    expect(seen.at(-1)).toContain("second");
    expect(new Set(writers(test))).toEqual(new Set(["b/one"]));
  });

  it("a message and an abort leave nothing behind", async () => {
    const stalls = () => turn("x", { fault: { kind: "stall", afterDeltas: 0 } });
    const test = await createFallbackSession({ a: down(), b: stalls });
    const running = test.session.prompt("hi");
    await eventOf(test, isType("model_fallback"));
    await test.session.abort();
    expect(await running).toMatchObject({ status: "aborted" });
    expect(test.session.isBusy).toBe(false);
  });

  it("an abort counts while the fallback's key is being resolved", async () => {
    const test = await createFallbackSession({ a: down(), b: ["b"] });
    const { registry } = test.session.models;
    const plain = registry.requestAuth.bind(registry);
    const asked = Promise.withResolvers<void>();
    registry.requestAuth = (model) => {
      if (model.provider !== "b") return plain(model);
      asked.resolve();
      return new Promise(() => {});
    };
    const running = test.session.prompt("hi");
    await asked.promise;
    await test.session.abort();
    expect(await running).toMatchObject({ status: "aborted" });
    expect(fallbacksOf(test)).toEqual([]);
  });

  it("another model can be chosen while the fallback's key is being resolved", async () => {
    const test = await createFallbackSession({ a: down(), b: ["b"], c: ["c"] });
    const { registry } = test.session.models;
    const plain = registry.requestAuth.bind(registry);
    registry.requestAuth = async (model) => {
      if (model.provider === "b") await test.session.setModel("c", "one");
      return plain(model);
    };
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(writers(test)).toEqual(["c/one"]);
    expect(fallbacksOf(test)).toEqual([]);
  });
});

describe("an answer with a schema", () => {
  it("is also requested from the fallback", async () => {
    const outputSchema = {
      type: "object",
      properties: { sum: { type: "number" } },
      required: ["sum"],
    };
    const test = await createFallbackSession({ a: down(), b: ['{"sum": 4}'] });
    expect(await test.session.prompt("2 + 2", { outputSchema })).toMatchObject({
      status: "completed",
      output: { sum: 4 },
      outputStatus: "valid",
    });
    expect(writers(test).at(-1)).toBe("b/one");
  });
});
