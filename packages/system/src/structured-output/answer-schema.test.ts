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
    'See [1]: {"a": 1}',
  ])("is found in %j", (text) => {
    expect(anything.check(text)).toEqual({ value: { a: 1 } });
  });

  it("may be any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(anything.check(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it("is the first reading that fits", async () => {
    const { check } = await readAnswerSchema({ type: "object", required: ["a"] });
    const value = { a: 1 };
    expect(check(JSON.stringify(JSON.stringify(value)))).toEqual({ value });
    expect(check('```json\n{"b": 1}\n```\nIn full: {"a": 1}')).toEqual({
      problem: expect.stringContaining("required"),
    });
    expect(check('```json\n[1]\n```\nrefers to {"a": 1}')).toEqual({ value });
  });

  it("never makes the check throw", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(Object.keys(anything.check(text))).toHaveLength(1);
      }),
    );
  });

  it("reports where an answer does not fit", async () => {
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
    [{ properties: { a: { type: "text" } } }, /outputSchema\.properties\.a has the unknown type/],
    [{ items: { pattern: "(" } }, /outputSchema\.items\.pattern "\(" is not a regular expression/],
    [
      { anyOf: [{ patternProperties: { "[": {} } }] },
      /outputSchema\.anyOf\[0\]\.patternProperties "\["/,
    ],
    [{ $defs: { a: { allOf: [{ pattern: "a{2,1}" }] } } }, /\$defs\.a\.allOf\[0\]\.pattern/],
    [{ required: "a" }, /required/],
    [{ properties: [] }, /properties/],
    [{ $ref: "#/$defs/none" }, /outputSchema has a \$ref that leads nowhere: #\/\$defs\/none/],
    [
      { properties: { a: { $ref: "#/$defs/none" } } },
      /properties\.a has a \$ref that leads nowhere/,
    ],
    [{ items: { enum: 7 } }, /outputSchema\.items has a member enum that is not a list/],
    [{ not: { anyOf: {} } }, /outputSchema\.not has a member anyOf that is not a list/],
    [{ oneOf: [true, 7] }, /outputSchema\.oneOf\[1\] must be an object/],
    [{ patternProperties: null }, /outputSchema has patternProperties that are not an object/],
  ])("refuses an invalid schema: %j", async (schema, words) => {
    await expect(readAnswerSchema(schema)).rejects.toThrow(words);
  });

  it("reports a reference to another document when an answer reaches it", async () => {
    const { check } = await readAnswerSchema({
      properties: { a: { $ref: "https://x.invalid/y" } },
    });
    expect(() => check('{"a": 1}')).toThrow(/outputSchema is not valid .*x\.invalid/);
  });

  it("may have members of any kind named pattern", async () => {
    const properties = { pattern: { type: "string" }, other: { enum: [{ pattern: "(" }] } };
    const { check } = await readAnswerSchema({ type: "object", properties });
    const answer = { pattern: "(", other: { pattern: "(" } };
    expect(check(JSON.stringify(answer))).toEqual({ value: answer });
  });

  const endless = "^(a+)+$";
  it.each([
    [{ type: "string", pattern: endless }, "pattern", (text: string) => text],
    [
      { patternProperties: { "^b": {}, [endless]: {} } },
      "patternProperties",
      (text: string) => ({ [text]: 1 }),
    ],
    [
      { items: { pattern: "a" }, allOf: [{ items: { pattern: endless } }] },
      "allOf[0].items.pattern",
      (text: string) => [text],
    ],
  ])(
    "with a pattern that takes forever is named, and does not block the host: %j",
    async (schema, at, answer) => {
      const { check } = await readAnswerSchema(schema);
      expect(check(JSON.stringify(answer(`${"a".repeat(60)}!`)))).toEqual({
        problem: expect.stringContaining(
          `could not be checked against outputSchema.${at} "${endless}"`,
        ),
      });
      expect(check(JSON.stringify(answer("aaa")))).toEqual({ value: answer("aaa") });
    },
  );
});
