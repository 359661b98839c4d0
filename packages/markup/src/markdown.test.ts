import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  colourLimits,
  markdownLimits,
  TimeAllowance,
} from "../../export-html/src/text/time-allowance.ts";
import { hostileTexts } from "./__fixtures__/hostile-texts.ts";
import { lengthAllowance } from "./allowance.ts";
import { createHighlight, languageOfPath } from "./highlight.ts";
import { escapeText } from "./html.ts";
import { createMarkdown, isOurMarkup, type RenderMarkdown } from "./markdown.ts";

let markdown: RenderMarkdown;
beforeAll(async () => {
  const highlight = await createHighlight(new TimeAllowance(colourLimits));
  markdown = await createMarkdown(highlight, new TimeAllowance(markdownLimits));
});
const render = (text: string) => markdown(text).text;

const allowed: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "rel", "target"],
  img: ["src", "alt", "loading"],
  div: ["class", "dir"],
  pre: ["class"],
  code: ["class"],
  span: ["class"],
  i: ["class"],
  li: ["class"],
  ul: ["dir"],
  ol: ["start", "dir"],
  blockquote: ["dir"],
  table: ["dir"],
  th: ["align"],
  td: ["align"],
};
const plainTags = "p br em strong del hr h1 h2 h3 h4 h5 h6 thead tbody tr";

/** Reads markup letter by letter, unlike the code under test, and returns everything that is not allowed. */
function forbiddenIn(markup: string): string[] {
  const found: string[] = [];
  for (const part of markup.split("<").slice(1)) {
    const inside = part.slice(0, part.indexOf(">"));
    const [, name = "?", rest = ""] = /^\/?([a-z][a-z\d]*)(.*)$/s.exec(inside) ?? [];
    if (allowed[name] === undefined && !plainTags.split(" ").includes(name)) found.push(inside);
    const attributes = [...rest.matchAll(/ ([a-z]+)="([^"]*)"/g)];
    if (attributes.map(([all]) => all).join("") !== rest) found.push(inside);
    for (const [, key = "", value = ""] of attributes) {
      if (!allowed[name]?.includes(key)) found.push(inside);
      if (key === "href" && !/^(?:https?|mailto):/.test(value)) found.push(inside);
      if (key === "src" && !/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(value))
        found.push(inside);
    }
  }
  return found;
}

describe("hostile text", () => {
  it.each(hostileTexts)("is text: %j", (text) => {
    expect(forbiddenIn(render(text))).toEqual([]);
  });

  it("is text in any order and mixture with Markdown", () => {
    const piece = fc.oneof(
      fc.constantFrom(...hostileTexts),
      fc.constantFrom(
        "[",
        "](",
        ")",
        "![",
        "`",
        "```",
        "\n",
        "> ",
        "- ",
        "| ",
        "<",
        '"',
        "**",
        "&",
        "\\",
      ),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(forbiddenIn(render(pieces.join("")))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["quotes", "> ".repeat(40_000)],
    ["lists", "- ".repeat(40_000)],
    ["brackets", "[".repeat(90_000)],
    ["spaced brackets", "[ ".repeat(45_000)],
    ["images", "![](".repeat(22_000)],
    ["stars", "*a ".repeat(30_000)],
    ["mixed emphasis", "*_".repeat(45_000)],
    ["backticks", "` `` ".repeat(18_000)],
    ["open tags", "<a ".repeat(30_000)],
    ["comments", "<!--".repeat(22_000)],
    ["table cells", `${"|".repeat(45_000)}\n${"|-".repeat(20_000)}`],
    ["links", "[a](b ".repeat(15_000)],
    ["underlines", `a${" ".repeat(80_000)}b`],
    ["line ends", `a${"\n".repeat(80_000)}b`],
    ["blank lines", `a${" \n".repeat(45_000)}b`],
    ["spaced words", `a${" ".repeat(400)}`.repeat(240)],
    ["tabs in a heading", `# a${"\t".repeat(80_000)}b`],
    ["short quotes", "> ".repeat(28).concat("a\n").repeat(1_700)],
    ["definitions", "[a]: b\n".repeat(12_000)],
    ["mail", "a@".repeat(45_000)],
    ["addresses", "http://a.".repeat(10_000)],
  ])("that nests or repeats %s takes little time", (_name, text) => {
    const start = performance.now();
    expect(forbiddenIn(render(text))).toEqual([]);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

it("renders common Markdown", () => {
  expect(render("# A\n\n**b** `c` [d](https://e.org)\n\n1. x\n2. y")).toBe(
    '<div class="prose" dir="auto"><h1>A</h1>\n<p><strong>b</strong> <code>c</code> ' +
      '<a href="https://e.org/" rel="noopener noreferrer nofollow" target="_blank">d</a></p>\n' +
      "<ol>\n<li>x</li>\n<li>y</li>\n</ol>\n</div>",
  );
});

it("marks to-do items, and quotations and lists with right-to-left text", () => {
  expect(render("- [x] a")).toContain('<li class="choice">☑ a</li>');
  expect(render("> שלום")).toContain('<blockquote dir="auto">');
  expect(render("- مرحبا")).toContain('<ul dir="auto">');
  expect(render("> hello")).toContain("<blockquote>");
});

it("colours code of known languages and leaves other code alone", () => {
  expect(render("```ts\nconst a = 1\n```")).toContain('<i class="k">const</i>');
  expect(render("```nolang\nconst a\n```")).toContain("<code>const a</code>");
});

it("shows images of the text itself and links to others", () => {
  expect(render("![a](data:image/png;base64,AAAA)")).toContain(
    '<img src="data:image/png;base64,AAAA"',
  );
  expect(render("![a](https://e.org/x.png)")).toContain('<a href="https://e.org/x.png"');
});

it("keeps the meaning of entities", () => {
  expect(render("a &amp; b &copy; &lt;i&gt;")).toContain("a &amp; b &copy; &lt;i&gt;");
});

it("shows the target of a link that is not followed", () => {
  expect(render("[docs](docs/a.md)")).toContain('docs <span class="address">(docs/a.md)</span>');
});

it("distinguishes its own markup from anything else", () => {
  expect(isOurMarkup('<p>a</p><a href="x">')).toBe(true);
  for (const text of [
    "<script>",
    "<p onclick=x>",
    '<p onclick="x">',
    "<p",
    "a < b",
    "<a href='x'>",
  ]) {
    expect(isOurMarkup(text)).toBe(false);
  }
});

it.each([
  ["src/a.ts", "ts"],
  ["a/b.mjs", "javascript"],
  ["C:\\x\\y.PY", "py"],
  ["Dockerfile", "bash"],
  ["a.constructor", "constructor"],
  ["", undefined],
])("takes the language of %s from its name", (path, language) => {
  expect(languageOfPath(path)).toBe(language);
});

it("takes little time even where it cannot be interrupted, as in a page", async () => {
  const limit = 20_000;
  const inPage = await createMarkdown((code) => escapeText(code), lengthAllowance(limit));
  for (const piece of ["*a ", "*_", "[a](b ", "` `` ", "a@", "<a ", "[ ", "> "]) {
    const start = performance.now();
    const text = piece.repeat(limit / piece.length);
    expect(forbiddenIn(inPage(text).text)).toEqual([]);
    expect(performance.now() - start).toBeLessThan(2_000);
  }
  expect(inPage("*a* ".repeat(limit)).text).toContain('class="plain"');
});
