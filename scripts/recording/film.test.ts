import { describe, expect, it } from "vitest";
import { makeFilm } from "./film.ts";
import { filmSvg } from "./film-svg.ts";
import { recordOutput, shortenPauses } from "./record-output.ts";

const screen = { columns: 20, rows: 3, framesPerSecond: 10 };

describe("a film of a terminal", () => {
  it("keeps a line that grows, and adds only the new text", async () => {
    const film = await makeFilm(
      [
        { seconds: 0, text: "Let" },
        { seconds: 0.5, text: " me" },
      ],
      screen,
    );
    expect(film.pieces).toEqual([
      { line: 0, column: 0, text: "Let", style: {}, from: 0 },
      { line: 0, column: 4, text: "me", style: {}, from: 5 },
    ]);
  });

  it("ends a piece when another one replaces it", async () => {
    const chunks = [
      { seconds: 0, text: "waiting\n" },
      { seconds: 1, text: "\u001b[1A\u001b[2Kdone\n" },
    ];
    const { pieces } = await makeFilm(chunks, screen);
    expect(pieces).toEqual([
      { line: 0, column: 0, text: "waiting", style: {}, from: 0, to: 10 },
      { line: 0, column: 0, text: "done", style: {}, from: 10 },
    ]);
  });

  it("recognises colours, and which lines are on the screen", async () => {
    const chunks = [
      { seconds: 0, text: "\u001b[31mno\u001b[0m \u001b[1myes\u001b[0m" },
      { seconds: 2, text: "\n2\n3\n4\n5" },
    ];
    const { pieces, scrolls, frames } = await makeFilm(chunks, screen);
    expect(pieces.slice(0, 2)).toMatchObject([
      { text: "no", style: { color: 1 } },
      { text: "yes", column: 3, style: { isBold: true } },
    ]);
    expect(pieces.at(-1)).toMatchObject({ line: 4, text: "5", from: 20 });
    expect(scrolls).toEqual([
      { frame: 0, top: 0 },
      { frame: 20, top: 2 },
    ]);
    expect(frames).toBe(20);
  });

  it("becomes an SVG that shows the last screen in viewers without animation", async () => {
    const chunks = [
      { seconds: 0, text: "a < b & c\nold\n" },
      { seconds: 2, text: "\u001b[1A\u001b[2Knew\n3\n4" },
    ];
    const svg = filmSvg(await makeFilm(chunks, screen), '"demo"', 2);
    expect(svg).toContain(">a &lt; b &amp; c</text>");
    expect(svg).toContain('aria-label="&quot;demo&quot;"');
    // In four seconds, the new line is visible during the second half.
    const news = "@keyframes f20{0%{visibility:hidden}50%{visibility:visible}}#film #f20{animation";
    expect(svg).toContain(news);
    expect(svg).toContain("50%{visibility:hidden}}#film #f0-20{visibility:hidden;animation-name");
    expect(svg).toContain("#film{transform:translateY(-18px);animation-name:scroll}");
  });
});

describe("a recording", () => {
  it("contains the output of a program with its times, and fails with the program", async () => {
    const node = process.execPath;
    const chunks = await recordOutput([node, "-p", "process.env.WORD"], { WORD: "said" });
    expect(chunks.map(({ text }) => text).join("")).toBe("said\n");
    expect(chunks[0]?.seconds).toBeGreaterThan(0);
    const failing = recordOutput([node, "-e", "console.log('so far'); process.exit(3)"], {});
    await expect(failing).rejects.toThrow(/exit code 3:\nso far/);
  });

  it("shortens pauses to what a viewer tolerates", () => {
    const chunks = [1, 1.5, 60].map((seconds) => ({ seconds, text: "" }));
    expect(shortenPauses(chunks, 2).map(({ seconds }) => seconds)).toEqual([1, 1.5, 3.5]);
  });
});
