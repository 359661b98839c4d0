import { describe, expect, it } from "vitest";
import { createGlob } from "./glob.ts";

describe("createGlob", () => {
  it.each([
    ["a*c", "abc", true],
    ["a*c", "abd", false],
    ["a?c", "abc", true],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[abc", "[abc", true],
    ["*", "", true],
    ["**b", "aab", true],
  ])("%s on %s is %s", (pattern, name, expected) => {
    expect(createGlob(pattern)(name)).toBe(expected);
  });

  it("stays fast on a pattern made to backtrack", () => {
    expect(createGlob("*a".repeat(200) + "b")("a".repeat(500))).toBe(false);
  });
});
