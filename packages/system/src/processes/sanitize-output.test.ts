import fc from "fast-check";
import { expect, it } from "vitest";
import { OutputSanitizer } from "./sanitize-output.ts";

const clean = (text: string) => new OutputSanitizer().push(text);

it.each([
  ["plain\ttext\n", "plain\ttext\n"],
  ["\x1b[1;31mred\x1b[0m", "red"],
  ["\x1b]0;title\x07after", "after"],
  ["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
  ["\x1bPdcs\x1b\\x", "x"],
  ["\x1b(Bx\x1b=y", "xy"],
  ["10%\r20%\r\n", "10%20%\n"],
  ["nul\0bell\x07del\x7f", "nulbelldel"],
  ["\x9b31mred", "red"],
  ["a\ufff9b\ufffbc", "abc"],
  ["caf\u00e9 😀", "caf\u00e9 😀"],
  ["\x1b[31\nnext", "\nnext"],
  ["\x1b]0;open\nnext", "\nnext"],
])("turns %j into %j", (raw, expected) => {
  expect(clean(raw)).toBe(expected);
});

it("returns the same text however the output is split", () => {
  const token = fc.constantFrom(
    ..."\x1b[1m|\x1b]0;t\x07|\x1b\\|x|\r\n|\x1b|\x9b2J|😀|\0|\x1b(B".split("|"),
  );
  fc.assert(
    fc.property(fc.array(token), fc.array(fc.nat(20)), (tokens, cuts) => {
      const text = tokens.join("");
      const sanitizer = new OutputSanitizer();
      let pieces = "";
      let at = 0;
      for (const cut of cuts) {
        pieces += sanitizer.push(text.slice(at, at + cut));
        at += cut;
      }
      pieces += sanitizer.push(text.slice(at));
      expect(pieces).toBe(clean(text));
    }),
  );
});

it("returns to text after an unterminated string", () => {
  const text = clean(`\x1b]0;${"x".repeat(10_000)}END`);
  expect(text.endsWith("END")).toBe(true);
});
