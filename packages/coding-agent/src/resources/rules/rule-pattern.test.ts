import { describe, expect, it } from "vitest";
import { parsePattern } from "./rule-pattern.ts";

describe("a pattern of a rule", () => {
  it.each([
    ["foo", "foo", ""],
    ["(?i)foo", "foo", "i"],
    ["(?sm)^foo.bar$", "^foo.bar$", "ms"],
    ["/foo\\/bar/gi", "foo\\/bar", "i"],
    ["/[/]x/", "[/]x", ""],
    ["/a/ii", "a", "i"],
    ["/usr/bin/env", "/usr/bin/env", ""],
    ["(?:a|b)", "(?:a|b)", ""],
    ["(?<year>\\d+)", "(?<year>\\d+)", ""],
  ])("is parsed from %s", (written, source, flags) => {
    expect(parsePattern(written)).toMatchObject({ written, source, flags });
  });

  it.each(["(", "/a/q", "(?q)a", "[z-a]", "(?iu)\\-"])("is not parsed from %s", (written) => {
    expect(parsePattern(written)).toEqual({ problem: expect.any(String) });
  });

  it("is line-bound only if nothing in it can match a line break", () => {
    const isLineBound = (written: string) => {
      const pattern = parsePattern(written);
      return "isLineBound" in pattern && pattern.isLineBound;
    };
    const bound = ["foo", "console\\.log\\(", "\\bas any\\b", "a.*b", "(?i)x+", "(?<=a)b$"];
    const free = [
      "a\\s+b",
      "a[^b]c",
      "(?s)a.b",
      "\\n",
      "a\\Wb",
      "\\p{L}",
      "(a)\\1",
      "[\\t-~]",
      "\\x0a",
    ];
    expect(bound.filter((written) => !isLineBound(written))).toEqual([]);
    expect(free.filter((written) => isLineBound(written))).toEqual([]);
  });
});
