import { expect, it } from "vitest";
import { isPlainSchema } from "./is-plain-schema.ts";

const text = { type: "string", description: "A path." };

it.each<[object]>([
  [{ type: "object", properties: { pattern: text, $ref: text }, required: ["pattern"] }],
  [{ anyOf: [text, { type: "array", items: { enum: [1, "a"] }, maxItems: 3 }] }],
  [{ type: "object", additionalProperties: false, properties: {} }],
])("recognises %j as plain", (schema) => {
  expect(isPlainSchema(schema)).toBe(true);
});

const itself: Record<string, unknown> = { type: "array" };
itself.items = itself;

it.each<[string, unknown]>([
  ["a pattern", { properties: { a: { pattern: "^(a+)+$" } } }],
  ["names by pattern", { patternProperties: { "^a": {} } }],
  ["a comparison of items", { items: { uniqueItems: true } }],
  ["a reference", { $defs: { a: text }, anyOf: [{ $ref: "#/$defs/a" }] }],
  ["a format", { format: "email" }],
  ["a keyword that nobody knows", { "x-check": "slow" }],
  ["properties that are no object", { properties: ["a"] }],
  ["itself", itself],
  ["many alternatives", { anyOf: Array.from({ length: 600 }, (_, at) => ({ const: at })) }],
  ["many values", { items: { anyOf: [{ enum: Array.from({ length: 600 }, (_, at) => at) }, {}] } }],
])("does not recognise a schema with %s as plain", (_, schema) => {
  expect(isPlainSchema(schema)).toBe(false);
});
