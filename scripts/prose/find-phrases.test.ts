import { describe, expect, it } from "vitest";
import { findPhrases } from "./find-phrases.ts";

const phrasesIn = (path: string, source: string) =>
  findPhrases(path, source).map(({ line, phrase }) => `${line}: ${phrase}`);

describe("findPhrases", () => {
  it("names the line of a phrase in a Markdown page, even across a line break", () => {
    expect(phrasesIn("page.md", "# Title\n\nAn image that is\nnone, for ever.\n")).toEqual([
      "3: is none",
      "4: for ever",
    ]);
  });

  it("reads comments of code, with adjacent line comments as one text", () => {
    const source = [
      "/**",
      " * An image that is",
      " * none.",
      " */",
      "const x = 1; // who is",
      "// told",
    ].join("\n");
    expect(phrasesIn("x.ts", source)).toEqual(["2: is none", "5: is told"]);
  });

  it("reads test titles, including those of tables", () => {
    const source = [
      'describe("an image that is none", () => {',
      "  it.each(values)(`refuses %s, whoever asks`, () => {});",
      "});",
    ].join("\n");
    expect(phrasesIn("x.test.ts", source)).toEqual(["1: is none", "2: whoever"]);
  });

  it("ignores code, in files and in pages", () => {
    expect(phrasesIn("x.ts", 'const is = none; // fine\ncall("the family");')).toEqual([]);
    expect(
      phrasesIn("page.md", "Fine.\n\n```ts\n// is none\n```\n\n`is none` <!-- anew -->\n"),
    ).toEqual([]);
  });

  it("finds no phrase across two titles or two comments with code between them", () => {
    expect(phrasesIn("x.test.ts", 'it("what it is", f);\nit("none", f);')).toEqual([]);
    expect(phrasesIn("x.ts", "/* is */ x(); // none")).toEqual([]);
  });

  it("accepts common phrases", () => {
    const fine = `There is no key. It is no longer there. The file is on another volume. Tools are told
apart by name. A family of commands. TAU stands for nothing. One stands in for another.`;
    expect(phrasesIn("page.md", fine)).toEqual([]);
  });
});
