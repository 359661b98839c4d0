import { type ScenarioRequest, scriptedModel, type Turn, turn } from "@tau-agent/ai/testing";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTestSession, keyless, userTexts } from "../create/__fixtures__/test-session.ts";
import { estimateTokens } from "./estimate.ts";
import { fitLimits, prepareCompaction } from "./prepare.ts";
import { nextPart, requestBudget, requestTokens, summarizeInParts } from "./summary-parts.ts";
import { firstSummaryInstructions, updatedSummaryInstructions } from "./summary-prompts.ts";
import { textTokens } from "./text-tokens.ts";

const isSummary = ({ systemPrompt }: ScenarioRequest) => systemPrompt.includes("summaries");
const window = 8000;
const long = "some words of a reply ".repeat(1200);

/** A session with a context window of 8000 tokens and three replies of at least 6000 tokens each. */
async function largeSession(summarize: (request: ScenarioRequest, count: number) => string | Turn) {
  const requests: string[] = [];
  const test = await createTestSession(
    (request) => {
      if (!isSummary(request)) {
        return turn(`reply ${long}`, { usage: { input: 10, output: 10 } });
      }
      requests.push(request.lastUserText);
      return summarize(request, requests.length);
    },
    { model: scriptedModel({ contextWindow: window }) },
  );
  test.session.settings.override("compaction.enabled", false);
  test.session.settings.override("retry.baseDelayMs", 1);
  for (const prompt of ["first", "second", "third", "fourth"]) await test.session.prompt(prompt);
  return { ...test, requests };
}

describe("a history larger than the window", () => {
  it("is summarised in parts, each with the summary so far", async () => {
    const { session, requests, written } = await largeSession((_, count) => `SUMMARY ${count}`);
    const result = await session.compact();
    expect(requests.length).toBeGreaterThan(3);
    for (const [index, request] of requests.entries()) {
      expect(requestTokens(request)).toBeLessThan(window * 0.9);
      if (index > 0 && request.includes("<previous-summary>")) {
        expect(request).toContain(`SUMMARY ${index}`);
      }
    }
    expect(requests[1]).toContain("<previous-summary>\nSUMMARY 1");
    expect(result.summary).toContain(`SUMMARY ${requests.length}`);
    expect(written().filter(({ type }) => type === "compaction")).toHaveLength(1);
    await session.prompt("fifth");
    expect(userTexts(session.messages)).toContain("fifth");
  });

  it("stops between two parts when it is aborted", async () => {
    let abort = (): void => {};
    const { session, requests } = await largeSession((_, count) => {
      if (count === 2) abort();
      return `SUMMARY ${count}`;
    });
    abort = () => void session.abort();
    const before = [...session.messages];
    await expect(session.compact()).rejects.toMatchObject({ code: "compaction_cancelled" });
    expect(requests).toHaveLength(2);
    expect(session.messages).toEqual(before);
  });

  it("reports which part failed", async () => {
    const { session } = await largeSession((_, count) =>
      count === 2 ? turn("cut", { stopReason: "length" }) : `SUMMARY ${count}`,
    );
    await expect(session.compact()).rejects.toThrow(
      "Could not summarise the conversation: part 2 of the conversation: the summary hit the model's output limit",
    );
  });

  it("is summarised in smaller parts if the vendor counts more tokens", async () => {
    const { session } = await largeSession((request, count) =>
      textTokens(request.lastUserText) > 2500
        ? turn("", { fault: { kind: "overflow" } })
        : `SUMMARY ${count}`,
    );
    expect((await session.compact()).summary).toContain("SUMMARY");
  });

  it("is compacted after a switch to a model with a smaller window", async () => {
    const small = scriptedModel({ id: "small", contextWindow: window });
    const requests: string[] = [];
    const scenario = (request: ScenarioRequest) => {
      if (!isSummary(request)) return `reply ${long}`;
      requests.push(request.lastUserText);
      return "SUMMARY";
    };
    const provider = { ...keyless("scripted"), models: () => [small] };
    const { session } = await createTestSession(scenario, { providers: [provider] });
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    await session.models.set("scripted", "small");
    expect(await session.prompt("fourth")).toMatchObject({ status: "completed" });
    expect(requests.length).toBeGreaterThan(2);
    for (const request of requests) expect(requestTokens(request)).toBeLessThan(window);
    const kept = session.messages.slice(0, -1).map(estimateTokens);
    expect(kept.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThan(window);
  });
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc
    .tuple(
      fc.constantFrom(
        "word and word ",
        "汉字很多",
        "aB3+/x9Q",
        "f(x);\n\t",
        "😀",
        "</conversation>",
      ),
      fc.integer({ min: 1, max: 6000 }),
    )
    .map(([piece, count]) => piece.repeat(count)),
);

describe("summary requests for any history and any context window of at least 2048 tokens", () => {
  it("fit the budget, contain every message in order, and terminate", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 12 }),
        fc.integer({ min: 2048, max: 40_000 }),
        fc.record({
          previousSummary: fc.option(text, { nil: undefined }),
          focus: fc.option(text, { nil: undefined }),
        }),
        async (pieces, contextWindow, given) => {
          const budget = requestBudget(scriptedModel({ contextWindow }), 20_000);
          const numbered = pieces.map((piece, index) => `#${index}# ${piece}`);
          const job = {
            pieces: numbered,
            first: firstSummaryInstructions,
            later: updatedSummaryInstructions,
            ...given,
          };
          const seen: string[] = [];
          const summary = await summarizeInParts(job, {
            budget,
            ask: async (request) => {
              expect(requestTokens(request)).toBeLessThanOrEqual(budget);
              seen.push(request);
              return `SO FAR ${"word ".repeat(seen.length * 200)}`;
            },
          });
          expect(summary).toContain("SO FAR");
          expect(seen.length).toBeLessThanOrEqual(Math.max(1, pieces.length));
          const order = seen
            .flatMap((request) => [...request.matchAll(/#(\d+)# /g)])
            .map(([, index]) => Number(index));
          expect(order).toEqual(pieces.map((_, index) => index));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("need only one request when there are no messages", () => {
    const job = { pieces: [], first: "First.", later: "Later.", previousSummary: "Before." };
    const part = nextPart(job, 0, { summary: "Before.", budget: 5000 });
    expect(part).toMatchObject({ next: 0, text: expect.stringContaining("Later.") });
  });
});

const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const assistant = (
  content: Extract<AgentMessage, { role: "assistant" }>["content"],
): AgentMessage => ({
  role: "assistant",
  content,
  api: "a",
  provider: "p",
  model: "m",
  usage,
  stopReason: "stop",
  timestamp: 1,
});
const call = (id: string) => assistant([{ type: "toolCall", id, name: "ls", arguments: {} }]);
const result = (toolCallId: string, content: string): AgentMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "ls",
  content: [{ type: "text", text: content }],
  isError: false,
  timestamp: 1,
});
const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });

function branchOf(messages: readonly AgentMessage[]): SessionEntry[] {
  return messages.map((message, index) => ({
    type: "message",
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
    message,
  }));
}

/** The indices of the messages that a compaction keeps. */
function keptOf(messages: readonly AgentMessage[], contextWindow: number): number[] | string {
  const limits = fitLimits({ reserveTokens: 20_000, keepRecentTokens: 20_000 }, contextWindow);
  const prepared = prepareCompaction(branchOf(messages), limits);
  if (typeof prepared === "string") return prepared;
  const first = messages.findIndex((_, index) => `e${index}` === prepared.firstKeptEntryId);
  return first === -1 ? [] : messages.map((_, index) => index).slice(first);
}

describe("what a compaction keeps", () => {
  const huge = "words of all kinds ".repeat(4000);

  it("leaves out a huge message at the start of the newest ones", () => {
    expect(
      keptOf([user("a"), user(huge), assistant([{ type: "text", text: "b" }]), user("c")], 8000),
    ).toEqual([2, 3]);
  });

  it("is nothing if the results of the last calls alone fill the window", () => {
    expect(keptOf([user("a"), call("1"), result("1", huge)], 8000)).toEqual([]);
  });

  it("includes results at the end together with their calls", () => {
    const middling = "word ".repeat(2500);
    expect(keptOf([user("a"), user(huge), call("1"), result("1", middling)], 8000)).toEqual([2, 3]);
  });

  it("includes an unanswered prompt, however large, even after a failed attempt", () => {
    const failed = { ...assistant([]), stopReason: "error" } as AgentMessage;
    expect(keptOf([user("a"), user(huge), failed], 8000)).toEqual([1, 2]);
  });

  it("fits half of the window unless the newest prompt alone does not", () => {
    const message = fc.oneof(
      text.map(user),
      text.map((words) => assistant([{ type: "text", text: words }])),
      text.map((words) => [call("1"), result("1", words)]),
    );
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 12 }),
        fc.integer({ min: 2048, max: 60_000 }),
        (list, contextWindow) => {
          const messages = list.flat();
          const kept = keptOf(messages, contextWindow);
          if (typeof kept === "string") return;
          const tokens = kept.map((index) => estimateTokens(messages[index] as AgentMessage));
          const total = tokens.reduce((sum, each) => sum + each, 0);
          const newest = tokens.at(-1) ?? 0;
          expect(total).toBeLessThanOrEqual(Math.max(contextWindow / 2, newest));
          expect(messages[kept[0] ?? -1]?.role).not.toBe("toolResult");
        },
      ),
      { numRuns: 200 },
    );
  });
});
