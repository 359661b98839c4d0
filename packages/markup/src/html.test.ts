import fc from "fast-check";
import { expect, it } from "vitest";
import { escapeHtml, html, jsonForScript, trusted } from "./html.ts";

const hostile = fc.string({
  unit: fc.constantFrom("<", ">", '"', "'", "&", "/", "!", "-", "script", "\u0000", "\u2028", "a"),
});

/** The text that a browser reads back. */
const decode = (text: string) =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

it("escapes any text so that a browser reads the same text and no markup", () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: "binary" })), (text) => {
      const escaped = escapeHtml(text);
      expect(escaped).not.toMatch(/[<>"']/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what goes missing
      const kept = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "");
      expect(decode(escaped)).toBe(kept);
    }),
  );
});

it("escapes values in a template, in text and attributes, but not HTML", () => {
  const name = `"><script>alert(1)</script>`;
  expect(html`<b title="${name}">${name}${trusted("<i>")}${[html`${"<"}`]}</b>`.text).toBe(
    '<b title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">' +
      "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;<i>&lt;</b>",
  );
  expect(html`${undefined}${false}${0}`.text).toBe("0");
});

it("writes JSON that cannot end a script element, and that reads back the same", () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.json().map(JSON.parse)), (value) => {
      const text = jsonForScript(value).text;
      expect(text).not.toMatch(/[<>&\u2028\u2029]/);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
