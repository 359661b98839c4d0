import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeBytes, Mark, quote, startArgument } from "./shell-text.ts";

const hard = fc.constantFrom(
  ..."'\"\\$`!*?[]{}()<>|&;#~ \n\t\r=%-",
  "ü",
  "☃",
  "𝄞",
  "\u0081",
  "\u0088",
);
const word = fc.oneof(
  fc.array(hard, { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => !text.includes("\0")),
);

/** Runs a request in the shell that the argument starts. */
function run(shell: readonly string[], request: string): Buffer {
  const mark = new Mark();
  const [file = "", ...args] = shell;
  const input = `${request}\n${mark.word}\n`;
  const { stdout } = spawnSync(file, [...args, startArgument(mark)], { input });
  const begin = Buffer.from(`${mark.word}\r\n\xff\n`, "latin1");
  expect(stdout.subarray(0, begin.length)).toEqual(begin);
  return stdout.subarray(begin.length);
}

test("no shell interprets a word of a request", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const printed = run(["sh", "-c"], `printf '%s\\0' ${words.map(quote).join(" ")}`);
      expect(printed.toString()).toBe(words.map((text) => `${text}\0`).join(""));
    }),
    { numRuns: 60 },
  );
});

test("any bytes reach a command unchanged", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const printed = run(["sh", "-c"], `printf %b '${escapeBytes(bytes)}'`);
      expect(printed).toEqual(Buffer.from(bytes));
    }),
    { numRuns: 60 },
  );
});

test("every login shell passes the argument on unchanged", () => {
  const argument = startArgument(new Mark());
  expect(argument).toMatch(/^exec sh -c '[^'\n!]*'$/u);
  expect(argument).not.toMatch(/\\[\\']/u);
  expect(argument.length).toBeLessThan(32 * 1024);
  // Printing the argument does not print the mark.
  const mark = new Mark();
  expect(startArgument(mark)).not.toContain(mark.word);
});

test("a NUL byte is refused", () => {
  expect(() => quote("a\0b")).toThrow("NUL");
});
