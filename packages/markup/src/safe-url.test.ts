import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageUrl, parseDataUrl, safeUrl } from "./safe-url.ts";

describe("safeUrl", () => {
  it.each([
    ["https://example.org/a?b=c#d", "https://example.org/a?b=c#d"],
    ["HTTP://Example.org", "http://example.org/"],
    ["mailto:ada@example.org", "mailto:ada@example.org"],
    [' https://example.org/"onclick', "https://example.org/%22onclick"],
  ])("follows %s", (address, expected) => {
    expect(safeUrl(address)).toBe(expected);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " \u0001javascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript\u0000:alert(1)",
    "java\u200bscript:alert(1)",
    "\ufeffjavascript:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "file:///etc/passwd",
    "blob:https://example.org/1",
    "view-source:https://example.org",
    "&#106;avascript:alert(1)",
    "//example.org",
    "/etc/passwd",
    "#x",
    "",
  ])("does not follow %j", (address) => {
    expect(safeUrl(address)).toBeUndefined();
  });

  it("never returns an address with another scheme, whatever is mixed into it", () => {
    const noise = fc.string({
      unit: fc.constantFrom("\u0000", "\n", "\t", " ", "\u200b", "/", ":"),
    });
    const parts = fc.tuple(noise, fc.constantFrom("java", "data", "http"), noise, fc.string());
    fc.assert(
      fc.property(parts, (texts) => {
        const url = safeUrl(texts.join(""));
        if (url !== undefined) expect(url).toMatch(/^(?:https?|mailto):/);
      }),
    );
  });
});

describe("imageUrl", () => {
  it("accepts base64 of pixel images, including line breaks and the URL alphabet", () => {
    expect(imageUrl("image/png", "iVBO\nRw0K")).toBe("data:image/png;base64,iVBORw0K");
    expect(imageUrl("IMAGE/JPG", "_-8=")).toBe("data:image/jpeg;base64,/+8=");
  });

  it.each([
    ["image/svg+xml", "PHN2Zz4="],
    ["text/html", "PHN2Zz4="],
    ['image/png" onerror="alert(1)', "AAAA"],
    ["image/png", 'AAAA" onerror="alert(1)'],
    ["image/png", "data:image/png;base64,AAAA"],
    ["image/png", ""],
    [undefined, "AAAA"],
    ["image/png", ["AAAA"]],
  ])("refuses type %j with data %j", (type, data) => {
    expect(imageUrl(type, data)).toBeUndefined();
  });
});

it("splits a data URL into its parts", () => {
  expect(parseDataUrl("data:image/png;base64,AA==")).toEqual({
    mimeType: "image/png",
    data: "AA==",
  });
  expect(parseDataUrl("data:image/png,AA")).toBeUndefined();
  expect(parseDataUrl("https://example.org")).toBeUndefined();
});
