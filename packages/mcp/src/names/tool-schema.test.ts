import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanLine, cleanText } from "./clean-text.ts";
import { readToolSchema } from "./tool-schema.ts";

describe("readToolSchema", () => {
  it("completes a schema without type or properties", () => {
    expect(readToolSchema({})).toEqual({ schema: { type: "object", properties: {} } });
  });

  it("keeps everything else", () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { anyOf: [{ type: "string" }] } },
    };
    expect(readToolSchema(schema)).toEqual({ schema });
  });

  it.each([
    [undefined, "not an object"],
    [{ type: "array" }, '"array"'],
    [{ type: ["object"] }, "object"],
    [{ type: "object", anyOf: [] }, "anyOf"],
    [{ $ref: "#/$defs/A", $defs: { A: {} } }, "$ref"],
    [{ type: "object", properties: [] }, "properties"],
    [{ type: "object", properties: { "a b": {} } }, "a b"],
    [{ type: "object", properties: { ["a".repeat(65)]: {} } }, "aaa"],
    [{ type: "object", properties: { a: { pattern: "(" } } }, "regular expression"],
    [{ type: "object", properties: { a: { type: "text" } } }, "unknown type"],
  ])("refuses %j", (schema, reason) => {
    expect(readToolSchema(schema)).toEqual({ reason: expect.stringContaining(reason) });
  });

  it("survives a schema that is nested too deeply", () => {
    let schema: unknown = {};
    for (let depth = 0; depth < 20_000; depth += 1) schema = { items: schema };
    const given = { type: "object", properties: { a: schema } };
    expect(readToolSchema(given)).toHaveProperty("reason");
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void readToolSchema(value)));
  });
});

describe("cleanText", () => {
  it("removes control characters but keeps lines", () => {
    expect(cleanText("a\u001b[31mb\r\n\tc\u202e\u0000", 100)).toBe("a[31mb\n\tc");
  });

  it("cuts text that is too long without splitting a character", () => {
    expect(cleanText("ab😀", 3)).toBe("ab\ufffd…");
    expect(cleanLine("a\n</tools>\n b", 100)).toBe("a </tools> b");
  });
});
