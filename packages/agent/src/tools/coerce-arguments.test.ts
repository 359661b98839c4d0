import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coerceArguments } from "./coerce-arguments.ts";

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  type: "object",
  properties,
  ...rest,
});
const coerce = (member: unknown, schema: unknown) =>
  (coerceArguments({ x: member }, object({ x: schema })) as { x?: unknown }).x;

describe("coerceArguments", () => {
  it.each([
    ["12", "number", 12],
    [" 1.5 ", "number", 1.5],
    ["12", "integer", 12],
    ["1.5", "integer", "1.5"],
    ["twelve", "number", "twelve"],
    ["Infinity", "number", "Infinity"],
    ["true", "boolean", true],
    ["FALSE", "boolean", false],
    ["yes", "boolean", "yes"],
    [12, "string", "12"],
    [true, "string", "true"],
  ])("converts %j for %s to %j", (given, type, expected) => {
    expect(coerce(given, { type })).toEqual(expected);
  });

  it("parses JSON text where an object or a list is expected", () => {
    expect(coerce('{"a":1}', object({ a: { type: "number" } }))).toEqual({ a: 1 });
    expect(coerce('["a","b"]', { type: "array", items: { type: "string" } })).toEqual(["a", "b"]);
    expect(coerce('{"a":"1"}', object({ a: { type: "number" } }))).toEqual({ a: 1 });
    expect(coerce("{broken", object({}))).toBe("{broken");
  });

  it("wraps a single value where a list is expected", () => {
    expect(coerce("a", { type: "array", items: { type: "string" } })).toEqual(["a"]);
    expect(coerce(3, { type: "array", items: { type: "string" } })).toEqual(["3"]);
    expect(coerce({ a: "1" }, { type: "array", items: object({ a: { type: "number" } }) })).toEqual(
      [{ a: 1 }],
    );
  });

  it("drops null and empty text for optional fields that do not allow them", () => {
    const schema = object(
      { s: { type: "string" }, n: { type: "number" }, m: { type: ["string", "null"] } },
      { required: [] },
    );
    expect(coerceArguments({ s: "", n: "", m: null }, schema)).toEqual({ s: "", m: null });
    expect(coerceArguments({ s: null }, schema)).toEqual({});
    expect(coerceArguments({ n: null }, { ...schema, required: ["n"] })).toEqual({ n: null });
  });

  it("drops invented fields only where the schema forbids them", () => {
    const properties = { a: { type: "string" } };
    expect(coerceArguments({ a: "x", b: 1 }, object(properties))).toEqual({ a: "x", b: 1 });
    const closed = object(properties, { additionalProperties: false });
    expect(coerceArguments({ a: "x", b: 1 }, closed)).toEqual({ a: "x" });
  });

  it("prefers the alternative of a union that already fits", () => {
    const union = { anyOf: [{ type: "number" }, { type: "string" }] };
    expect(coerce("12", union)).toBe("12");
    expect(coerce("12", { anyOf: [{ type: "number" }, { type: "null" }] })).toBe(12);
  });

  it("picks the alternative of a union of objects whose members are present", () => {
    const closed = { additionalProperties: false };
    const byMember = {
      anyOf: [
        object({ a: { type: "number" } }, closed),
        object({ b: { type: "number" } }, { ...closed, required: ["b"] }),
      ],
    };
    expect(coerce({ b: "1" }, byMember)).toEqual({ b: 1 });
    const byConst = {
      oneOf: [
        object({ kind: { const: "a" }, n: { type: "string" } }),
        object({ kind: { const: "b" }, n: { type: "number" } }),
      ],
    };
    expect(coerce({ kind: "b", n: "1" }, byConst)).toEqual({ kind: "b", n: 1 });
  });

  it("keeps a member named __proto__ as a member", () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"a":"1"}');
    const result = coerceArguments(value, object({ a: { type: "number" } }));
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });

  it("never throws, whatever value and schema", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, schema) => {
        coerceArguments(value, schema);
      }),
    );
    fc.assert(
      fc.property(fc.anything(), schemaArbitrary, (value, schema) => {
        coerceArguments(value, schema);
      }),
    );
  });

  it("leaves a valid value unchanged", () => {
    fc.assert(
      fc.property(schemaArbitrary, valueArbitrary, (schema, value) => {
        fc.pre(new Validator(schema as object, "2020-12", false).validate(value).valid);
        expect(coerceArguments(value, schema)).toEqual(value);
      }),
      { numRuns: 400 },
    );
  });

  it("changes nothing more when it runs twice", () => {
    fc.assert(
      fc.property(schemaArbitrary, valueArbitrary, (schema, value) => {
        const once = coerceArguments(value, schema);
        expect(coerceArguments(once, schema)).toEqual(once);
      }),
    );
  });
});

const keys = fc.constantFrom("a", "b", "c");
const valueArbitrary = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false, 0, 1, 1.5, "", "1", "true", "[1]", '{"a":1}', "text"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
  ),
})).value;

const leafTypes = ["string", "number", "integer", "boolean", "null"] as const;
const schemaArbitrary = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...leafTypes).map((type) => ({ type })),
    fc.constant({ type: ["string", "null"] }),
    tie("schema").map((items) => ({ type: "array", items })),
    fc
      .tuple(
        fc.dictionary(keys, tie("schema"), { maxKeys: 3 }),
        fc.subarray(["a", "b"]),
        fc.boolean(),
      )
      .map(([properties, required, additionalProperties]) => ({
        type: "object",
        properties,
        required,
        additionalProperties,
      })),
  ),
})).schema;
