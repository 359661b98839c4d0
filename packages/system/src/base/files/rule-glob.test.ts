import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  commandMatcher,
  escapeCommand,
  escapeGlob,
  nameMatcher,
  pathMatcher,
} from "./rule-glob.ts";

describe("a pattern over paths", () => {
  it.each([
    ["src/a.ts", "src/a.ts", true],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/b/a.ts", false],
    ["src/**", "src/b/a.ts", true],
    ["src/**", "src", true],
    ["src/**", "srcs/a", false],
    ["**/.env", ".env", true],
    ["**/.env", "a/b/.env", true],
    ["**/.env", "a/b.env", false],
    ["src/**/x", "src/x", true],
    ["src/**/x", "src/a/b/x", true],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["a\\*c", "a*c", true],
    ["a\\*c", "abc", false],
    ["[a].ts", "[a].ts", true],
    ["[a].ts", "a.ts", false],
    ["{a,b}", "{a,b}", true],
    ["", "", true],
    ["**", "a/b", true],
  ])("%j with %j: %s", (pattern, path, fits) => {
    expect(pathMatcher("/w/", pattern)(`/w/${path}`)).toBe(fits);
  });
});

describe("a pattern over commands", () => {
  it.each([
    ["git *", "git", true],
    ["git *", "git push origin", true],
    ["git *", "gitk", false],
    ["git*", "gitk --all", true],
    ["* --force", "git push --force", true],
    ["* --force", "git push --forced", false],
    ["rm *", "rm -rf a/b\nc", true],
    ["echo ?", "echo x", false],
    ["echo ?", "echo ?", true],
    ["echo \\*", "echo *", true],
    ["echo \\*", "echo x", false],
    ["*", "anything", true],
    ["npm test", "npm test -- x", false],
  ])("%j with %j: %s", (pattern, command, fits) => {
    expect(commandMatcher(pattern)(command)).toBe(fits);
  });
});

it("matches names of tools", () => {
  expect(nameMatcher("mcp_*_read?")("mcp_files_read1")).toBe(true);
  expect(nameMatcher("mcp_*")("bash")).toBe(false);
});

it("matches an escaped text with itself and nothing else", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "*", "?", "\\", " ", "/", "é", "😀") });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(commandMatcher(escapeCommand(one))(other)).toBe(one === other);
      expect(nameMatcher(escapeGlob(one))(other)).toBe(one === other);
      expect(pathMatcher("/", escapeGlob(one))(`/${other}`)).toBe(one === other);
    }),
  );
});

it("agrees with a regular expression for every pattern and path", () => {
  const unit = fc.constantFrom("a", "b", "/", "*", "**", "**/", "?");
  const translate = (pattern: string): string =>
    pattern
      .replace(/(^|\/)\*\*\//g, "$1<dirs>")
      .replaceAll("**", "<any>")
      .replaceAll("*", "[^/]*")
      .replaceAll("?", "[^/]")
      .replaceAll("<dirs>", "(?:[^]*/)?")
      .replace(/^<any>$/, "[^]*")
      .replace(/\/<any>$/, "(?:/[^]*)?")
      .replaceAll("<any>", "[^]*");
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 6 }).map((parts) => parts.join("")),
      fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 8 }),
      (pattern, path) => {
        // Runs of stars can be read in more than one way.
        fc.pre(!pattern.includes("***") && !pattern.startsWith("/") && !/\*\*\/\*\*/.test(pattern));
        const expected = new RegExp(`^/w/${translate(pattern)}$`).test(`/w/${path}`);
        expect([pattern, path, pathMatcher("/w/", pattern)(`/w/${path}`)]).toEqual([
          pattern,
          path,
          expected,
        ]);
      },
    ),
    { numRuns: 3000 },
  );
});

it("takes no longer for patterns made to be slow", () => {
  const fits = commandMatcher(`${"*a".repeat(60)}b`);
  expect(fits("a".repeat(20_000))).toBe(false);
  const path = pathMatcher("/w/", `${"**/*a*".repeat(60)}b`);
  expect(path(`/w/${"a/".repeat(2000)}`)).toBe(false);
});

it("handles as many patterns as a file may have", () => {
  const text = `git commit -m ${"a long message ".repeat(20)}`;
  const path = `/w/${"a/bc/".repeat(20)}`;
  const began = performance.now();
  const fitting = Array.from({ length: 2000 }, (_, at) => at).filter(
    (at) =>
      commandMatcher(`*${at}*b*c*${at}z*`)(text) ||
      pathMatcher("/w/", `**/*${at}*b*c/**/*${at}z`)(path),
  );
  expect(fitting).toEqual([]);
  expect(performance.now() - began).toBeLessThan(2000);
});
