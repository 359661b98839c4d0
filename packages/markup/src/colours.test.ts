import fc from "fast-check";
import { expect, it } from "vitest";
import { shortColours, splitColours } from "./colours.ts";

it("uses a letter for each coloured class, and leaves out the others", () => {
  expect(
    shortColours(
      '<span class="hljs-function"><span class="hljs-keyword">let</span> <span class="hljs-title function_">f</span></span>',
    ),
  ).toBe('<i class="k">let</i> <i class="f">f</i>');
});

it("cuts inside a comment of several lines without losing its colour", () => {
  expect(splitColours('a\n<i class="c">/* b\nc */</i> d\ne', 2)).toEqual([
    'a\n<i class="c">/* b</i>',
    '<i class="c">c */</i> d\ne',
  ]);
  expect(splitColours("a\nb", 2)).toBeUndefined();
});

it("keeps every character and balances both halves", () => {
  const part = fc.constantFrom("x", "\n", '<i class="k">', "</i>", "&lt;");
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 1, max: 4 }), (parts, lines) => {
      let depth = 0;
      const balanced = parts.filter((one) => {
        if (one === "</i>" && depth === 0) return false;
        if (one.startsWith("<i")) depth += 1;
        if (one === "</i>") depth -= 1;
        return true;
      });
      const markup = balanced.join("") + "</i>".repeat(depth);
      const halves = splitColours(markup, lines);
      const text = (value: string) => value.replace(/<[^>]*>/g, "");
      if (halves === undefined) expect(text(markup).split("\n").length).toBeLessThanOrEqual(lines);
      else {
        expect(halves.map(text).join("\n")).toBe(text(markup));
        for (const half of halves) {
          expect(half.match(/<i /g)?.length).toBe(half.match(/<\/i>/g)?.length);
        }
      }
    }),
  );
});
