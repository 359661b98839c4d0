import type { LlmMessage, Model, UserContent } from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Provider, StreamOptions } from "../provider.ts";
import { builtInProviders } from "../providers.ts";
import { fitContext } from "./history.ts";
import { Memo } from "./memo.ts";

const apis = Object.keys(builtInProviders);

interface Memory {
  readonly history: Memo;
  /** Keeps providers, because they cache what they have encoded. */
  readonly providers: ReadonlyMap<string, Provider>;
}

async function remember(): Promise<Memory> {
  const loaded = Object.entries(builtInProviders).map(
    async ([api, load]) => [api, await load()] as const,
  );
  return { history: new Memo(), providers: new Map(await Promise.all(loaded)) };
}

function request(
  model: Model,
  messages: readonly LlmMessage[],
  options: StreamOptions,
  memory: Memory,
): { messages?: unknown[]; input?: unknown[]; contents?: unknown[] } {
  const provider = memory.providers.get(model.api);
  if (provider === undefined) expect.fail(model.api);
  const tools = [{ name: "run", description: "runs", parameters: { type: "object" } }];
  const context = fitContext(
    model,
    { systemPrompt: "Be brief.", messages, tools },
    {
      normalizeToolCallId: (id, call, source) =>
        provider.normalizeToolCallId?.(id, call, source) ?? id,
    },
    memory.history,
  );
  return provider.encode(model, context, options) as object;
}

function modelOf(api: string, more: Partial<Model> = {}): Model {
  return {
    id: "m",
    name: "M",
    api,
    provider: "p",
    baseUrl: "https://vendor.invalid/v1",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 100_000,
    maxTokens: 10_000,
    ...more,
  };
}

const text = fc.constantFrom("", "a", "b\ud800", "long ".repeat(5));
const block: fc.Arbitrary<UserContent> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text }),
  fc.constant({ type: "image" as const, data: "AA==", mimeType: "image/png" }),
);
const id = fc.constantFrom("1", "call.1|fc_1", "call/1|fc_1", "x".repeat(70));
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const reply = fc.record({
  role: fc.constant("assistant" as const),
  content: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant("text" as const), text }),
      fc.record({
        type: fc.constant("thinking" as const),
        thinking: text,
        thinkingSignature: fc.constantFrom("AAAA", "reasoning_content", '{"type":"x"}'),
      }),
      fc.record({
        type: fc.constant("toolCall" as const),
        id,
        name: fc.constant("run"),
        arguments: fc.dictionary(fc.constantFrom("k", "l"), text),
      }),
    ),
    { maxLength: 4 },
  ),
  api: fc.constantFrom(...apis),
  provider: fc.constant("p"),
  model: fc.constantFrom("m", "n"),
  usage: fc.constant({ ...usage, cost: { ...usage, total: 0 } }),
  stopReason: fc.constantFrom("stop" as const, "toolUse" as const, "aborted" as const),
  timestamp: fc.constant(1),
});
const message: fc.Arbitrary<LlmMessage> = fc.oneof(
  fc.record({
    role: fc.constant("user" as const),
    content: fc.oneof(text, fc.array(block, { maxLength: 3 })),
    timestamp: fc.constant(1),
  }),
  reply,
  fc.record({
    role: fc.constant("toolResult" as const),
    toolCallId: id,
    toolName: fc.constant("run"),
    content: fc.array(block, { maxLength: 3 }),
    isError: fc.boolean(),
    timestamp: fc.constant(1),
  }),
);
const target = fc.record({
  api: fc.constantFrom(...apis),
  id: fc.constantFrom("m", "n", "gemini-3-pro"),
  input: fc.constantFrom<Model["input"]>(["text"], ["text", "image"]),
  compat: fc.constantFrom<NonNullable<Model["compat"]>>(
    {},
    { cacheControlFormat: "anthropic", allowEmptySignature: true },
    { requiresAssistantAfterToolResult: true, requiresThinkingAsText: true },
    { toolCallIdFormat: "mistral", requiresToolResultName: true },
  ),
});
const step = fc.record({
  model: fc.option(target, { nil: undefined }),
  thinkingLevel: fc.constantFrom("off" as const, "high" as const),
  dropped: fc.nat(3),
  added: fc.array(message, { maxLength: 4 }),
});

describe("requests encoded with a memo", () => {
  it("equal those encoded without it, whatever the history, models and changes in between", async () => {
    const first = modelOf("openai-completions");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const memory = await remember();
        let messages: LlmMessage[] = [];
        let model = first;
        for (const { model: next, thinkingLevel, dropped, added } of steps) {
          if (next !== undefined) model = modelOf(next.api, next);
          // Mostly, the conversation grows; sometimes messages disappear, as after a compaction.
          messages = [...(dropped === 3 ? messages.slice(1) : messages), ...added];
          const options = { thinkingLevel, sessionId: "s" };
          const fresh = request(model, messages, options, await remember());
          expect(JSON.stringify(request(model, messages, options, memory))).toBe(
            JSON.stringify(fresh),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each(apis)("reuse the encoding of unchanged messages: %s", async (api) => {
    const memory = await remember();
    const model = modelOf(api);
    const turn = (id: string): LlmMessage[] => [
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name: "run", arguments: { id } }],
        api,
        provider: "p",
        model: "m",
        usage: { ...usage, cost: { ...usage, total: 0 } },
        stopReason: "toolUse",
        timestamp: 1,
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: "run",
        content: [{ type: "text", text: `result of ${id}` }],
        isError: false,
        timestamp: 1,
      },
    ];
    const messages = [...turn("a"), ...turn("a"), ...turn("b")];
    const sent = (count: number): unknown[] => {
      const {
        messages: list,
        input,
        contents,
      } = request(model, messages.slice(0, count), {}, memory);
      return list ?? input ?? contents ?? [];
    };
    // The parts of a message are the same objects, not just equal ones.
    const parts = (value: unknown): unknown[] =>
      Object.values(value as object).flatMap((member) => (Array.isArray(member) ? member : []));
    const earlier = sent(4);
    const later = sent(6);
    const shared = new Set(later.flatMap((item) => [item, ...parts(item)]));
    const kept = earlier.filter((item) => [item, ...parts(item)].some((part) => shared.has(part)));
    // Two messages change, because cache marks move.
    expect(kept.length).toBeGreaterThanOrEqual(earlier.length - 2);
    expect(later.length).toBeGreaterThan(earlier.length);
  });
});
