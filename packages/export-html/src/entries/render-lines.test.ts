import { escapeText, trusted } from "@tau-agent/markup";
import fc from "fast-check";
import { expect, it } from "vitest";
import { renderLastOutput, renderLines, renderOutput } from "./render-lines.ts";

const numbered = (count: number) =>
  Array.from({ length: count }, (_, line) => `line ${line + 1}`).join("\n");
const blocks = (markup: string) =>
  [...markup.matchAll(/<code>(.*?)<\/code>/gs)].map(([, text]) => text);
const titles = (markup: string) =>
  [...markup.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, text]) => text);

it("shows ten lines, and folds all lines after them", () => {
  expect(renderLines(numbered(10)).text).not.toContain("<details");
  expect(renderLines(`${numbered(10)}\n`).text).not.toContain("<details");
  const folded = renderLines(numbered(24)).text;
  expect(blocks(folded)[0]).toBe(numbered(10));
  expect(blocks(folded)[1]).toMatch(/^line 11\n.*line 24$/s);
  expect(titles(folded)).toEqual(["14 more lines"]);
  expect(titles(renderLines(numbered(11)).text)).toEqual(["1 more line"]);
});

it("counts a line that wraps on the page as several", () => {
  const wide = Array.from({ length: 6 }, () => "x".repeat(300)).join("\n");
  expect(titles(renderLines(wide).text)).toEqual(["3 more lines"]);
  expect(titles(renderLines("y".repeat(5_000)).text)).toEqual(["3900 more characters"]);
});

it("shows the end of output if the end is most informative", () => {
  const markup = renderLastOutput(`${numbered(24)}\n`)?.text ?? "";
  expect(titles(markup)).toEqual(["14 earlier lines"]);
  expect(blocks(markup)[1]).toMatch(/^line 15\n.*line 24$/s);
  expect(renderLastOutput(numbered(3))?.text).toBe(renderOutput(numbered(3))?.text);
});

it("loses no character, wherever it folds", () => {
  const text = fc.array(
    fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\n", "\n\n", "<i>", "😀".repeat(600))),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(text, (parts) => {
      const whole = escapeText(parts.join("")).text;
      const shown = blocks(renderLines(parts.join("")).text);
      expect([shown.join("\n"), shown.join("")]).toContain(whole);
    }),
  );
});

it("keeps the colours on both sides of the fold", () => {
  const lines = numbered(12);
  const [head, rest] = blocks(renderLines(lines, trusted(`<i class="c">${lines}</i>`)).text);
  expect(head).toBe(`<i class="c">${numbered(10)}</i>`);
  expect(rest).toBe('<i class="c">line 11\nline 12</i>');
});
