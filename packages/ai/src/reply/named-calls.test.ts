import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Delta } from "../provider.ts";
import { NamedCalls } from "./named-calls.ts";

/** Splits a text at the given positions. */
function cut(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((at) => at % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}

/** The call that a reply shows when `call_tool` receives these arguments in pieces. */
function shown(pieces: readonly string[], end: Partial<Delta> = {}) {
  const calls = new NamedCalls("call_tool");
  const deltas: Delta[] = [
    { type: "tool_call", key: 0, id: "c1", name: "call_tool" },
    ...pieces.map((piece): Delta => ({ type: "tool_call", key: 0, arguments: piece })),
    { type: "block_end", key: 0, ...end } as Delta,
  ];
  const seen = deltas.flatMap((delta) => calls.read(delta) ?? [delta]);
  const ofCall = seen.flatMap((delta) => (delta.type === "tool_call" ? [delta] : []));
  const names = ofCall.flatMap(({ name }) => name ?? []);
  const text = ofCall.map((delta) => delta.arguments ?? "").join("");
  return { names, ids: ofCall.flatMap(({ id }) => id ?? []), text, seen };
}

const json = fc.json();
const object = fc.dictionary(fc.string(), fc.jsonValue());
const cuts = fc.array(fc.nat(), { maxLength: 12 });
const space = fc.constantFrom("", " ", "\n\t");

describe("NamedCalls", () => {
  it("shows the named call and its arguments for any order, splitting and nesting", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((name) => name.trim() === name),
        object,
        fc.boolean(),
        cuts,
        space,
        (name, args, isNameFirst, at, gap) => {
          const members = [
            `${gap}"name"${gap}:${gap}${JSON.stringify(name)}${gap}`,
            `${gap}"arguments"${gap}:${gap}${JSON.stringify(args)}${gap}`,
          ];
          const text = `{${(isNameFirst ? members : members.reverse()).join(",")}}`;
          const { names, ids, text: passed } = shown(cut(text, at));
          expect(names).toEqual([name]);
          expect(ids).toEqual(["c1"]);
          expect(JSON.parse(passed)).toEqual(JSON.parse(JSON.stringify(args)));
        },
      ),
    );
  });

  it("passes arguments on as they arrive", () => {
    const calls = new NamedCalls("call_tool");
    const read = (piece: string) => calls.read({ type: "tool_call", key: 0, arguments: piece });
    calls.read({ type: "tool_call", key: 0, id: "c1", name: "call_tool" });
    expect(read('{"name":"ticket","arguments":{"num')).toEqual([
      { type: "tool_call", key: 0, id: "c1", name: "ticket", arguments: '{"num' },
    ]);
    expect(read('ber":7')).toEqual([{ type: "tool_call", key: 0, arguments: 'ber":7' }]);
  });

  it.each([
    ["as a string of JSON", '{"name":"t","arguments":"{\\"a\\":1}"}', { a: 1 }],
    ["beside the name", '{"name":"t","a":1,"b":[2]}', { a: 1, b: [2] }],
    ["not at all", '{"name":"t"}', {}],
  ])("accepts arguments that come %s", (_, text, args) => {
    const { names, text: passed } = shown([text]);
    expect(names).toEqual(["t"]);
    expect(JSON.parse(passed)).toEqual(args);
  });

  it("uses the complete arguments that a vendor sends only at the end", () => {
    const { names, text } = shown([], { arguments: '{"name":"t","arguments":{"a":1}}' } as Delta);
    expect([names, text]).toEqual([["t"], '{"a":1}']);
  });

  it("leaves a call that names no tool to the loop, and never throws", () => {
    expect(shown(['{"arguments":{}}'])).toMatchObject({ names: ["call_tool"], ids: ["c1"] });
    fc.assert(
      fc.property(fc.oneof(json, fc.string()), cuts, (text, at) => {
        const { names, ids } = shown(cut(text, at));
        expect(names).toHaveLength(1);
        expect(ids).toEqual(["c1"]);
      }),
    );
  });

  it("ends open calls before the reply's stop, and changes no other delta", () => {
    const calls = new NamedCalls("call_tool");
    const text: Delta = { type: "text", key: 1, text: "x" };
    const other: Delta = { type: "tool_call", key: 2, name: "read", arguments: "{}" };
    expect([calls.read(text), calls.read(other)]).toEqual([undefined, undefined]);
    calls.read({ type: "tool_call", key: 0, name: "call_tool", arguments: '{"name":"t"}' });
    const stop: Delta = { type: "stop", reason: "toolUse" };
    expect(calls.read(stop)?.map(({ type }) => type)).toEqual(["tool_call", "block_end", "stop"]);
  });
});
