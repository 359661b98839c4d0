import { starMatcher } from "@tau-agent/system";
import fc from "fast-check";
import { expect, it } from "vitest";
import { commonGlobs } from "./common-globs.ts";

it.each([
  [["anthropic/*"], ["*/claude-*"], "anthropic/claude-x", true],
  [["anthropic/*"], ["*/claude-*"], "openai/claude-x", false],
  [["bash", "read"], ["re*"], "read", true],
  [["bash", "read"], ["re*"], "bash", false],
  [["ab*"], ["*bc"], "abc", true],
  [["*"], ["*"], "", true],
  [[], ["*"], "bash", false],
] as const)("combines %j and %j to %s %s", (one, other, text, isFit) => {
  const common = commonGlobs([...one], [...other]) ?? [];
  expect(common.some((glob) => starMatcher(glob)(text))).toBe(isFit);
});

it("returns the other list if one is missing", () => {
  expect(commonGlobs(undefined, ["a"])).toEqual(["a"]);
  expect(commonGlobs(["a"], undefined)).toEqual(["a"]);
  expect(commonGlobs(undefined, undefined)).toBeUndefined();
});

it("keeps a list that is given twice", () => {
  expect(commonGlobs(["bash", "mcp__*__x"], ["mcp__*__x", "bash"])).toEqual(["bash", "mcp__*__x"]);
});

it("matches exactly what both lists match", () => {
  const word = fc
    .array(fc.constantFrom("a", "b", "*"), { maxLength: 5 })
    .map((all) => all.join(""));
  const text = fc.array(fc.constantFrom("a", "b"), { maxLength: 6 }).map((all) => all.join(""));
  const globs = fc.array(word, { maxLength: 3 });
  const fits = (list: readonly string[], name: string) =>
    list.some((glob) => starMatcher(glob)(name));
  fc.assert(
    fc.property(globs, globs, text, (one, other, name) => {
      const common = commonGlobs(one, other) ?? [];
      expect(fits(common, name)).toBe(fits(one, name) && fits(other, name));
    }),
  );
});
