import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Delta } from "../provider.ts";
import { scriptedModel } from "../testing/index.ts";
import { Assembler } from "./assemble.ts";
import { GatheredText } from "./gathered-text.ts";

const key = fc.nat({ max: 2 });
const text = fc.string({ maxLength: 3 });
const delta: fc.Arbitrary<Delta> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("text"), key, text }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("thinking"), key, text }) },
  fc.record({
    type: fc.constant("tool_call"),
    key,
    id: fc.constantFrom("a", "b"),
    name: fc.constant("run"),
    arguments: fc.constant("{}"),
  }),
  fc.record({ type: fc.constant("signature"), key, signature: text, append: fc.boolean() }),
  fc.record({ type: fc.constant("block_end"), key }),
  fc.record({ type: fc.constant("restart") }),
  fc.record({ type: fc.constant("stop"), reason: fc.constant("stop") }),
);

/** Assembles deltas in bursts; what is in a burst may be gathered. */
function assemble(bursts: readonly (readonly Delta[])[], gathers: boolean) {
  const assembler = new Assembler(scriptedModel(), { now: () => 7, createToolCallId: () => "c" });
  const text = new GatheredText();
  const events = bursts.flatMap((burst) => {
    const deltas = gathers
      ? [...burst.flatMap((each) => text.take(each)), ...text.release()]
      : burst;
    return deltas.flatMap((each) => assembler.push(each));
  });
  const ended = assembler.finish();
  return { events: [...events, ...ended.events], result: ended.result };
}

/** The events with the deltas of a block that follow each other as one. */
function joined(events: readonly AssistantMessageEvent[]) {
  const seen: { type: string; at?: number; delta?: string }[] = [];
  for (const event of events) {
    const at = "contentIndex" in event ? event.contentIndex : undefined;
    const last = seen.at(-1);
    if ("delta" in event && last?.type === event.type && last.at === at) last.delta += event.delta;
    else {
      const { type } = event;
      seen.push({
        type,
        ...(at !== undefined && { at }),
        ...("delta" in event && { delta: event.delta }),
      });
    }
  }
  return seen;
}

describe("GatheredText", () => {
  it("makes the same reply of fewer events", () => {
    fc.assert(
      fc.property(fc.array(fc.array(delta)), (bursts) => {
        const one = assemble(bursts, false);
        const gathered = assemble(bursts, true);
        expect(joined(gathered.events)).toEqual(joined(one.events));
        expect(gathered.result).toEqual(one.result);
        expect(gathered.events.length).toBeLessThanOrEqual(one.events.length);
      }),
    );
  });

  it("joins the text of a burst, and passes on everything else in order", () => {
    const said = (piece: string, key = 0): Delta => ({ type: "text", key, text: piece });
    const end: Delta = { type: "block_end", key: 0 };
    const text = new GatheredText();
    expect([said("a"), said("b")].flatMap((each) => text.take(each))).toEqual([]);
    expect(text.isHeld).toBe(true);
    expect(text.take(said("c", 1))).toEqual([said("ab")]);
    expect(text.take(end)).toEqual([said("c", 1), end]);
    expect(text.isHeld).toBe(false);
    text.take(said("d"));
    expect(text.release()).toEqual([said("d")]);
    expect(text.release()).toEqual([]);
  });
});
