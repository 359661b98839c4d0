import fc from "fast-check";
import { expect, it } from "vitest";
import { keyMark, maskText, OutputMask } from "./output-mask.ts";

function inChunks(keys: readonly string[], chunks: readonly Buffer[]): string[] {
  const mask = new OutputMask(keys);
  return [...chunks.map((chunk) => mask.push(chunk)), mask.end()].map(String);
}

it("removes a key that arrives in pieces, and holds back nothing else", () => {
  const chunks = ["a sk-", "12", "34 b", " sk", "in"].map((text) => Buffer.from(text));
  expect(inChunks(["sk-1234"], chunks)).toEqual(["a ", "", `${keyMark} b`, " ", "skin", ""]);
});

it("searches an output full of keys only once", () => {
  const text = Buffer.from("sk-1234567890".repeat(400_000));
  const mask = new OutputMask(["sk-1234567890", "another-key-1", "another-key-2"]);
  expect(mask.push(text).length).toBe(400_000 * keyMark.length);
});

it("leaves a chunk alone when there are no keys", () => {
  const chunk = Buffer.from("text");
  expect(new OutputMask([]).push(chunk)).toBe(chunk);
});

it("keeps held bytes intact when the owner of a chunk reuses it", () => {
  const mask = new OutputMask(["secret"]);
  const chunk = Buffer.from("se");
  mask.push(chunk);
  chunk.fill("x");
  expect(String(mask.push(Buffer.from("ven")))).toBe("seven");
});

it("returns the same text however it is split", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "é"), { minLength: 1, maxLength: 6 });
  const key = letters.map((parts) => parts.join(""));
  const text = fc.array(fc.constantFrom("a", "b", "é", " "), { maxLength: 60 });
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { maxLength: 4 }),
      text,
      fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 40 }),
      (keys, parts, sizes) => {
        const sorted = keys.toSorted((left, right) => right.length - left.length);
        const whole = parts.join("");
        const bytes = Buffer.from(whole);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of sizes) {
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        chunks.push(bytes.subarray(at));
        const pattern = new RegExp(sorted.join("|"), "g");
        const expected = sorted.length === 0 ? whole : whole.replaceAll(pattern, keyMark);
        expect(Buffer.concat(bytesOf(sorted, chunks)).toString()).toBe(expected);
        expect(maskText(new OutputMask(sorted), whole)).toBe(expected);
      },
    ),
    { numRuns: 2000 },
  );
});

function bytesOf(keys: readonly string[], chunks: readonly Buffer[]): Buffer[] {
  const mask = new OutputMask(keys);
  return [...chunks.map((chunk) => Buffer.from(mask.push(chunk))), mask.end()];
}
