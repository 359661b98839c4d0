import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineFolder } from "./line-folder.ts";

/** What is shown of output that arrives in pieces. */
function folded(...pieces: string[]): string {
  const folder = new LineFolder();
  const shown = pieces.map((piece) => folder.push(Buffer.from(piece)));
  return Buffer.concat([...shown, folder.pending]).toString();
}

describe("LineFolder", () => {
  it("counts the repeats of a line", () => {
    const text = `begin\n${"the same warning\n".repeat(1_500)}end\n`;
    expect(folded(text)).toBe("begin\nthe same warning\n[last line repeated 1 499 times]\nend\n");
  });

  it.each([
    ["twice", "a\na\na\nb\n"],
    ["where the count is longer", "}\n}\n}\n}\nend\n"],
    ["where lines differ", "a 1\na 2\na 3\na 4\n"],
  ])("leaves repeats unchanged %s", (_, text) => {
    expect(folded(text)).toBe(text);
  });

  it("keeps only the last state of an overwritten line", () => {
    const progress = Array.from({ length: 100 }, (_, at) => `\rLoading ${at} %`).join("");
    expect(folded(`start\n${progress}\ndone\n`)).toBe("start\nLoading 99 %\ndone\n");
    expect(folded(progress)).toBe("Loading 99 %");
    expect(folded("one\r\ntwo\r\n")).toBe("one\r\ntwo\r\n");
  });

  it("passes long lines on in bounded memory", () => {
    const folder = new LineFolder();
    const piece = Buffer.alloc(3_000, "x");
    let shown = 0;
    for (let at = 0; at < 100; at++) shown += folder.push(piece).length;
    expect(shown + folder.pending.length).toBe(300_000);
    expect(folder.pending.length).toBeLessThan(4_097);
  });

  it("counts no long lines, whether they arrive whole or in pieces", () => {
    const line = `${"y".repeat(5_000)}\n`;
    const text = line.repeat(4);
    expect(folded(text)).toBe(text);
    expect(folded(line, line.slice(0, 4_500), line.slice(4_500), line, line)).toBe(text);
  });

  it("shows the same however the output is split, and drops only repeated lines", () => {
    const line = fc.constantFrom(
      "",
      "a",
      "the same line again",
      "10 %\r20 %",
      "x\r",
      "y".repeat(5_000),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.array(fc.nat()), (lines, cuts) => {
        const text = lines.join("\n");
        const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
        const pieces = [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
        const whole = folded(text);
        expect(folded(...pieces)).toBe(whole);
        for (const each of new Set(lines)) {
          const last = each.replace(/\r$/, "").split("\r").at(-1) ?? "";
          expect(whole).toContain(last);
        }
      }),
    );
  });
});
