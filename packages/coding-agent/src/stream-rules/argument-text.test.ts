import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentText } from "./argument-text.ts";

/** Splits a text at these positions. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
}

function read(pieces: readonly string[]) {
  const decoder = new ArgumentText();
  const strings: string[] = [];
  let whole = "";
  for (const piece of pieces) {
    const added = decoder.push(piece);
    whole += added.whole;
    for (const { text, isStart } of added.values) {
      if (isStart) strings.push(text);
      else strings.push((strings.pop() ?? "") + text);
    }
  }
  return { whole, strings };
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...stringsOf(inner)]);
}

describe("the text of a call's arguments", () => {
  it("has decoded strings, and everything else unchanged", () => {
    const json = '{"a":"line\\n\\"quoted\\" \\u00e9\\/","n":[1,true]}';
    expect(read([json])).toEqual({
      whole: '{"a":"line\n"quoted" é/","n":[1,true]}',
      strings: ["a", 'line\n"quoted" é/', "n"],
    });
  });

  it("is the same however the deltas are split", () => {
    const places = fc.array(fc.nat(), { maxLength: 20 });
    const values = fc.jsonValue({ stringUnit: "grapheme" });
    fc.assert(
      fc.property(values, fc.boolean(), places, (value, isPretty, cuts) => {
        const json = JSON.stringify(value, null, isPretty ? 2 : 0);
        const { strings, whole } = read(cut(json, cuts));
        expect(strings).toEqual(stringsOf(value));
        expect(whole).toBe(read([json]).whole);
      }),
    );
  });

  it("passes malformed JSON through unchanged", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.nat()), (text, cuts) => {
        expect(read(cut(text, cuts)).whole).toBe(read([text]).whole);
      }),
    );
    expect(read(["plain \\u text"]).whole).toBe("plain \\u text");
  });
});
