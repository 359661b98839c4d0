import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAnswerSchema } from "./answer-schema.ts";

const anything = await readAnswerSchema({});

describe("an answer", () => {
  it.each([
    '{"a": 1}',
    'Here it is:\n```json\n{"a": 1}\n```\nI hope it helps.',
    '```\n[0]\n```\nno, rather:\n```json\n{"a": 1}\n```',
    'The result is {"a": 1}.',
  ])("is found in %j", (text) => {
    expect(anything.check(text)).toEqual({ value: { a: 1 } });
  });

  it("is any JSON value as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(anything.check(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it("never makes the check throw", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(Object.keys(anything.check(text))).toHaveLength(1);
      }),
    );
  });

  it("that does not fit is told where", async () => {
    const schema = await readAnswerSchema({
      type: "object",
      properties: { list: { type: "array", items: { $ref: "#/$defs/word" } } },
      $defs: { word: { type: "string" } },
    });
    expect(schema.check('{"list": ["a"]}')).toEqual({ value: { list: ["a"] } });
    expect(schema.check('{"list": ["a", 2]}')).toMatchObject({
      problem: expect.stringContaining("#/list/1"),
    });
    expect(schema.check("none")).toEqual({ problem: "It is not JSON." });
  });
});

describe("a schema", () => {
  it.each([
    [7, /must be an object/],
    [{ type: "thing" }, /unknown type "thing"/],
    [{ properties: { a: { type: "text" } } }, /outputSchema\.a has the unknown type/],
    [{ items: { pattern: "(" } }, /outputSchema\.items has a pattern/],
    [{ required: "a" }, /required/],
    [{ properties: [] }, /properties/],
    [{ $ref: "#/$defs/none" }, /outputSchema/],
  ])("that is none is refused: %j", async (schema, words) => {
    await expect(readAnswerSchema(schema)).rejects.toThrow(words);
  });

  it.each([
    [{ type: "string", pattern: "^(a+)+$" }, (text: string) => text],
    [{ patternProperties: { "^(a+)+$": {} } }, (text: string) => ({ [text]: 1 })],
  ])("whose pattern never ends does not hold up the host: %j", async (schema, answer) => {
    const { check } = await readAnswerSchema(schema);
    const endless = JSON.stringify(answer(`${"a".repeat(60)}!`));
    expect(check(endless)).toEqual({ problem: "Its check against a pattern does not end." });
    expect(check(JSON.stringify(answer("aaa")))).toEqual({ value: answer("aaa") });
  });
});
