import { describe, expect, it } from "vitest";
import { checkSchema } from "./check-schema.ts";

function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: "string" };
  for (let at = 0; at < depth; at += 1) schema = { properties: { a: schema } };
  return schema;
}

describe("a schema from another party", () => {
  it("is refused if it is nested too deeply or too long", () => {
    expect(() => checkSchema(nested(50_000), "it")).toThrow(
      "it is nested more than 100 levels deep",
    );
    const properties = { a: { description: "x".repeat(300_000) } };
    expect(() => checkSchema({ properties }, "it")).toThrow("it is longer than 256 KiB");
  });

  it("may be as large as hand-written schemas are", () => {
    expect(checkSchema(nested(90), "it")).toEqual([]);
  });
});
