import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTemplateArguments, substituteArguments } from "./template-arguments.ts";

describe("parseTemplateArguments", () => {
  it.each([
    ["", []],
    ["  a  b\tc\nd ", ["a", "b", "c", "d"]],
    [`"a b" 'c d'`, ["a b", "c d"]],
    [`it's fine don't`, ["it's", "fine", "don't"]],
    [`'tis the season's end`, ["'tis", "the", "season's", "end"]],
    [`"unclosed text`, [`"unclosed`, "text"]],
    [`"" x ''`, ["", "x", ""]],
    [`"say \\"hi\\" now"`, [`say "hi" now`]],
    [`a"b c"`, [`a"b`, `c"`]],
    [`"two\nlines"`, ["two\nlines"]],
    [`C:\\dir\\file`, [`C:\\dir\\file`]],
  ])("reads %j", (text, expected) => {
    expect(parseTemplateArguments(text)).toEqual(expected);
  });

  it("reads quoted arguments back unchanged", () => {
    const word = fc.string().filter((text) => !text.includes("\\"));
    fc.assert(
      fc.property(fc.array(word), fc.constantFrom('"', "'"), (words, quote) => {
        const quoted = words.map((text) => quote + text.replaceAll(quote, `\\${quote}`) + quote);
        expect(parseTemplateArguments(quoted.join(" "))).toEqual(words);
      }),
    );
  });

  it("loses no characters of any text except blanks, quotes and backslashes", () => {
    const piece = fc.constantFrom('"', "'", "\\", " ", "a", "b", "\n");
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const letters = (text: string) => text.replace(/["'\\\s]/g, "");
        const text = pieces.join("");
        expect(letters(parseTemplateArguments(text).join(""))).toBe(letters(text));
      }),
    );
  });

  it("takes time linear in the length of a text full of quotes", () => {
    expect(parseTemplateArguments(` "a`.repeat(50_000))).toHaveLength(50_000);
  });
});

describe("substituteArguments", () => {
  const values = ["one", "two words", "$1", "four"];
  it.each([
    ["$1-$2-$9.", "one-two words-."],
    ["$@", "one two words $1 four"],
    ["[$ARGUMENTS]", "[one two words $1 four]"],
    ["$ARGUMENTSX $0 $ $$", "$ARGUMENTSX $0 $ $$"],
    [`\${@:2}`, "two words $1 four"],
    [`\${@:2:2}`, "two words $1"],
    [`\${@:0:1}`, "one"],
    [`\${@:9}`, ""],
    [`\${1:-none} \${7:-none}`, "one none"],
    [`\${1:2}`, `\${1:2}`],
    ["$10$3", "$1"],
  ])("turns %s into %s", (template, expected) => {
    expect(substituteArguments(template, values)).toBe(expected);
  });

  it("uses defaults when there are no arguments", () => {
    expect(substituteArguments(`\${@:-all} \${ARGUMENTS:-any} $@|`, [])).toBe("all any |");
  });

  it("does not substitute within substituted text", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(substituteArguments("<$1>", [value])).toBe(`<${value}>`);
      }),
    );
  });
});
