import { expect, it } from "vitest";
import { code, table } from "./markdown.ts";

it("escapes bars in tables, where they would end a cell, but nowhere else", () => {
  expect(code("a | b")).toBe("`a | b`");
  expect(table(["Type"], [[code("a | b")]])).toBe("| Type |\n| --- |\n| `a \\| b` |\n");
});
