import fc from "fast-check";
import { expect, it } from "vitest";
import { globMatcher } from "./glob-matcher.ts";

it.each([
  ["*.ts", ["a.ts", ".ts", "a.b.ts"], ["a.js", "src/a.ts", "ats"]],
  ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts", "lib/src/a.ts", "src/a.tsx"]],
  ["**/deep", ["deep", "a/deep", "a/b/deep"], ["deeper", "deep/a"]],
  ["src/**", ["src", "src/a", "src/a/b"], ["srca", "lib"]],
  ["**", ["a", "a/b"], []],
  ["a**b", ["ab", "axxb"], ["a/b"]],
  ["*.{js,md}", ["a.js", "b.md"], ["a.{js,md}", "a.ts"]],
  ["{src,lib/**}/x.ts", ["src/x.ts", "lib/a/x.ts"], ["x.ts"]],
  ["{a,b{c,d}}", ["a", "bc", "bd"], ["b", "a,b"]],
  ["file{1}.txt", ["file{1}.txt"], ["file1.txt"]],
  ["x{{a},b}", ["x{a}", "xb"], ["xa"]],
  ["{{{{", ["{{{{"], ["{"]],
  ["[bc].[!x]", ["b.a", "c.b"], ["d.a", "b.x", "b./"]],
  ["[a-c]?", ["ab", "c😀"], ["d1", "a/"]],
  ["[", ["["], ["a"]],
  ["\\*.ts", ["*.ts"], ["a.ts"]],
  ["notes (1).txt", ["notes (1).txt"], ["notes 1.txt"]],
])("%s fits %j, not %j", (pattern, fitting, others) => {
  const matches = globMatcher(pattern);
  expect(fitting.filter((path) => !matches(path))).toEqual([]);
  expect(others.filter(matches)).toEqual([]);
});

it("agrees with a regular expression for patterns that can be written as one", () => {
  const part = fc.constantFrom("*", "?", "a", "b", "/", "ab", "**/", ".");
  const expressionOf = (pattern: string) =>
    new RegExp(
      `^${pattern
        .replace(/\*\*\/|[*?.]/g, (found, at: number) => {
          const startsName = at === 0 || pattern[at - 1] === "/";
          if (found === "**/") return startsName ? "(?:[^/]*/)*" : "[^/]*/";
          return { "*": "[^/]*", "?": "[^/]", ".": "\\." }[found] ?? "";
        })
        .replaceAll("[^/]*[^/]*", "[^/]*")}$`,
    );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
      fc.array(fc.stringMatching(/^[ab/.]{0,8}$/), { minLength: 1, maxLength: 4 }),
      (pattern, paths) => {
        fc.pre(!pattern.includes("***") && !/\*\*(?!\/)/.test(pattern));
        // One matcher for all paths, because a matcher remembers its steps.
        const expression = expressionOf(pattern);
        expect(paths.filter(globMatcher(pattern))).toEqual(
          paths.filter((path) => expression.test(path)),
        );
      },
    ),
    { numRuns: 2000 },
  );
});

it.each([
  ["*a".repeat(60), "a".repeat(250)],
  ["**/".repeat(80) + "b", "a/".repeat(200)],
  ["*a".repeat(2000) + "?", "a".repeat(4000)],
  [`${"{a,".repeat(200)}b${"}".repeat(200)}*b`, "a".repeat(250)],
  ["{".repeat(4000), "{"],
  ["[".repeat(4000), "["],
  ["{a,b}".repeat(60), "ab".repeat(60)],
])("answers quickly for a pattern like %.20s…", (pattern, path) => {
  const began = performance.now();
  globMatcher(pattern)(path);
  expect(performance.now() - began).toBeLessThan(500);
});

it("gives the same answers after more characters than it can remember", () => {
  const matches = globMatcher("a*b?");
  const everyCharacter = Array.from({ length: 0x7000 }, (_, index) =>
    String.fromCodePoint(index + 1),
  );
  const found = everyCharacter.filter((character) => matches(`a${character}b${character}`));
  expect(found).toEqual(everyCharacter.filter((character) => character !== "/"));
  expect([matches("a1b2"), matches("a1c2")]).toEqual([true, false]);
});
