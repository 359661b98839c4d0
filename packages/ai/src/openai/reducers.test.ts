import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isProviderError } from "../errors.ts";
import { createReducer as createCompletionsReducer } from "../openai-completions/response.ts";
import { createReducer as createResponsesReducer } from "../openai-responses/response.ts";
import type { Delta } from "../provider.ts";

const text = fc.oneof(fc.string(), fc.constant(null), fc.constant(undefined));
const index = fc.oneof(fc.nat(2), fc.constant(null), fc.constant(undefined));

const piece = fc.record({
  index,
  id: text,
  function: fc.oneof(fc.constant(null), fc.record({ name: text, arguments: text })),
});
const completionsChunk = fc.record({
  id: text,
  choices: fc.oneof(
    fc.constant(null),
    fc.array(
      fc.record({
        delta: fc.oneof(
          fc.constant(null),
          fc.record({
            content: text,
            reasoning: text,
            reasoning_content: text,
            tool_calls: fc.oneof(fc.constant(null), fc.array(fc.oneof(piece, fc.constant(null)))),
          }),
        ),
        finish_reason: fc.constantFrom(null, "stop", "tool_calls", "length", "odd"),
      }),
      { maxLength: 2 },
    ),
  ),
});

const item = fc.record({
  type: fc.constantFrom("message", "reasoning", "function_call", "web_search_call"),
  id: text,
  name: text,
  call_id: text,
  arguments: text,
});
const responsesEvent = fc.record({
  type: fc.constantFrom(
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.completed",
    "response.queued",
  ),
  output_index: index,
  item_id: text,
  item: fc.oneof(item, fc.constant(null)),
  delta: text,
  arguments: text,
});

/** The deltas of a block are all of one type, and only a signature may follow its end. */
function expectOrder(deltas: readonly Delta[]): void {
  const types = new Map<unknown, string>();
  for (const delta of deltas) {
    if (delta.type !== "text" && delta.type !== "thinking" && delta.type !== "tool_call") continue;
    expect(types.get(delta.key) ?? delta.type).toBe(delta.type);
    types.set(delta.key, delta.type);
  }
}

describe("the reducer of openai-completions", () => {
  it("tolerates whatever servers omit", () => {
    fc.assert(
      fc.property(fc.array(completionsChunk), (chunks) => {
        const reduce = createCompletionsReducer();
        const deltas = chunks.flatMap((chunk) => [...reduce(chunk)]);
        expectOrder(deltas);
        expect(deltas.filter((delta) => delta.type === "stop").length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("passes on every character of a text in order", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (pieces) => {
        const reduce = createCompletionsReducer();
        const deltas = pieces.flatMap((content) => [
          ...reduce({ choices: [{ delta: { content } }] }),
        ]);
        const streamed = deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
        expect(streamed).toBe(pieces.join(""));
      }),
    );
  });
});

describe("the reducer of openai-responses", () => {
  it("tolerates whatever servers omit, or reports items it cannot tell apart", () => {
    fc.assert(
      fc.property(fc.array(responsesEvent), (events) => {
        const reduce = createResponsesReducer();
        const deltas: Delta[] = [];
        try {
          for (const event of events) deltas.push(...reduce(event));
        } catch (error) {
          expect(isProviderError(error)).toBe(true);
        }
        expectOrder(deltas);
      }),
    );
  });
});

describe("a stop reason that is a property of every object", () => {
  it.each(["constructor", "__proto__", "toString"])("treats %s as an unknown reason", (reason) => {
    const reduce = createCompletionsReducer();
    const chunk = { id: "1", choices: [{ index: 0, delta: {}, finish_reason: reason }] };
    expect([...reduce(chunk as never)].find(({ type }) => type === "stop")).toMatchObject({
      reason: "error",
      code: "unknown",
    });
  });
});

describe("a chunk with nothing but text", () => {
  it("is read like one with other members besides its text", () => {
    const part = fc.constantFrom("", "a", "b");
    const member = fc.constantFrom<object>({}, { refusal: null }, { role: "assistant" });
    const chunk = fc.record({
      id: fc.constantFrom("r", null),
      content: fc.oneof(part, fc.constant(null), fc.constant([{ text: "listed" }])),
      more: fc.oneof(member, fc.constantFrom({ reasoning: "t" }, { refusal: "no" })),
      finish_reason: fc.constantFrom(null, undefined, "stop", ""),
      usage: fc.constantFrom(undefined, null, { prompt_tokens: 1 }),
    });
    const read = (chunks: readonly Record<string, unknown>[], beside: object): Delta[] => {
      const reduce = createCompletionsReducer();
      return chunks.flatMap(({ id, content, more, finish_reason, usage }) => {
        const delta = { content, ...(more as object), ...beside };
        return [...reduce({ id, choices: [{ delta, finish_reason }], usage } as never)];
      });
    };
    const check = (chunks: Record<string, unknown>[]) => {
      expect(read(chunks, {})).toEqual(read(chunks, { unknown: 1 }));
    };
    fc.assert(fc.property(fc.array(chunk), check));
  });
});
