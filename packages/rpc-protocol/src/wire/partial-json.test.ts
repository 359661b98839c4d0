import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PartialJson } from "./partial-json.ts";

function read(...pieces: string[]): PartialJson {
  const json = new PartialJson();
  for (const piece of pieces) json.feed(piece);
  return json;
}

describe("PartialJson", () => {
  it("reads every document that JSON.parse reads, split anywhere", () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (compact, isIndented) => {
        const text = isIndented ? JSON.stringify(JSON.parse(compact), null, 2) : compact;
        for (let cut = 0; cut <= text.length; cut++) {
          const json = read(text.slice(0, cut), text.slice(cut));
          expect(json.end()).toBe(true);
          expect(json.value).toEqual(JSON.parse(text));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("reads documents given character by character", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const json = read(...text.split(""));
        expect(json.end()).toBe(true);
        expect(json.value).toEqual(JSON.parse(text));
      }),
    );
  });

  it("never throws, whatever the input", () => {
    const characters = fc.constantFrom(...'{}[]",:\\u0e-+.truefalsn 1\n');
    fc.assert(
      fc.property(fc.array(characters), (parts) => {
        const json = read(...parts);
        const text = parts.join("");
        let parsed: { value: unknown } | undefined;
        try {
          parsed = { value: JSON.parse(text) };
        } catch {
          parsed = undefined;
        }
        const isComplete = json.end();
        if (parsed !== undefined) expect([isComplete, json.value]).toEqual([true, parsed.value]);
      }),
    );
  });

  it.each([
    ['{"path":"src/in', { path: "src/in" }],
    ['{"path":"a","line":12', { path: "a" }],
    ['{"path":"a","line":12,', { path: "a", line: 12 }],
    ['{"a":[{"b":"c"},{"d":"', { a: [{ b: "c" }, { d: "" }] }],
    ['{"half key', {}],
    ['{"a":"line\\', { a: "line" }],
  ])("shows the best object so far for %s", (text, expected) => {
    expect(read(text).value).toEqual(expected);
  });

  it.each([
    ['{"a":"x\\u12zz"}', { a: "x\\u12zz" }],
    ['{"a":"\\u12"}', { a: "\\u12" }],
    ['{"a":"C:\\windows"}', { a: "C:\\windows" }],
    ['{"a":"one\ntwo\u0001"}', { a: "one\ntwo\u0001" }],
  ])("repairs the string in %j", (text, expected) => {
    const json = read(text);
    expect(json.end()).toBe(true);
    expect(json.value).toEqual(expected);
  });

  it.each(['{"a":1', '{"a":}', "{a:1}", "[1,]", '{"a":1}}', "01", "nul", "", "1 2", '{"a" 1}'])(
    "reports %j as malformed",
    (text) => {
      expect(read(text).end()).toBe(false);
    },
  );

  it("keeps a key named __proto__ as data", () => {
    const { value } = read('{"__proto__":{"polluted":true}}');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
