import fc from "fast-check";
import { expect, it } from "vitest";
import { newProblems, plainMessage, problemText } from "./problem.ts";

const at = (line: number, message: string, code?: string) => ({
  file: "a",
  line,
  message,
  ...(code && { code }),
});

it("finds new problems even if lines have moved", () => {
  const before = { text: "one\ntwo", problems: [at(2, "wrong")] };
  const after = { text: "new\none\ntwo", problems: [at(1, "worse"), at(3, "wrong")] };
  expect(newProblems(before, after)).toEqual([at(1, "worse")]);
  expect(newProblems(undefined, after)).toHaveLength(2);
});

it("treats the second of two identical problems on another line as new", () => {
  const before = { text: "call(a)\n", problems: [at(1, "unused")] };
  const after = { text: "call(b)\ncall(a)\n", problems: [at(1, "unused"), at(2, "unused")] };
  expect(newProblems(before, after)).toEqual([at(1, "unused")]);
});

it("does not treat a problem as new if its line has changed and is still wrong", () => {
  const before = { text: "let a: strin", problems: [at(1, "unknown strin")] };
  const after = { text: "let ab: strin", problems: [at(1, "unknown strin")] };
  expect(newProblems(before, after)).toEqual([]);
});

it("never reports more problems than were added, whatever moves", () => {
  const problems = fc.array(
    fc.record({
      file: fc.constant("a"),
      line: fc.integer({ min: 1, max: 9 }),
      message: fc.constantFrom("x", "y", "z"),
    }),
  );
  const text = fc.array(fc.constantFrom("p", "q", "")).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, problems, text, problems, (textBefore, before, textAfter, after) => {
      const found = newProblems(
        { text: textBefore, problems: before },
        { text: textAfter, problems: after },
      );
      for (const word of ["x", "y", "z"]) {
        const count = (all: readonly { message: string }[]) =>
          all.filter(({ message }) => message === word).length;
        expect(count(found)).toBe(Math.max(0, count(after) - count(before)));
      }
      expect(
        newProblems({ text: textAfter, problems: after }, { text: textAfter, problems: after }),
      ).toEqual([]);
    }),
  );
});

it("lists at most twenty problems, and how many more there are", () => {
  const many = Array.from({ length: 23 }, (_, line) => at(line + 1, "wrong", "E1"));
  const lines = problemText(many).split("\n");
  expect(lines).toHaveLength(22);
  expect(lines[1]).toBe("a:1: E1 wrong");
  expect(lines.at(-1)).toBe("[3 more]");
  expect(plainMessage(`a\n  b ${"x".repeat(600)}`)).toMatch(/^a b x{496}…$/);
});
