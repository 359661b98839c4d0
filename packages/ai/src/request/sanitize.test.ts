import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitizeJson, sanitizeText } from "./sanitize.ts";

describe("sanitizeText", () => {
  it("leaves only text that is valid in UTF-8, and valid text unchanged", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.constantFrom("\ud83d", "\udc00", ""),
        (text, bad) => {
          expect(sanitizeText(text)).toBe(text);
          const clean = sanitizeText(`${bad} ${text} ${bad}`);
          expect(Buffer.from(clean, "utf8").toString("utf8")).toBe(clean);
          expect(clean).toBe(` ${text} `);
        },
      ),
    );
  });

  it("reaches every string of a JSON value", () => {
    expect(sanitizeJson({ "k\ud800": ["a\udfff", { b: "👋" }, 1, null, true] })).toEqual({
      k: ["a", { b: "👋" }, 1, null, true],
    });
  });
});
