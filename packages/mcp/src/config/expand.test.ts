// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how mcp.json names variables.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandHome, expandText } from "./expand.ts";

const environment = { TOKEN: "secret", EMPTY: "", NESTED: "${TOKEN}" };

describe("expandText", () => {
  it.each([
    ["${TOKEN}", "secret"],
    ["Bearer ${TOKEN}!", "Bearer secret!"],
    ["${MISSING:-fallback}", "fallback"],
    ["${EMPTY:-fallback}", "fallback"],
    ["${EMPTY}", ""],
    ["${MISSING:-}", ""],
    ["${TOKEN:-unused}", "secret"],
    ["${NESTED}", "${TOKEN}"],
    ["$TOKEN and $5", "$TOKEN and $5"],
  ])("reads %s as %s", (text, value) => {
    expect(expandText(text, { environment })).toEqual({ value });
  });

  it("names a variable that is not set", () => {
    expect(expandText("${MISSING}", { environment })).toEqual({
      reason: "the environment variable MISSING is not set",
    });
  });

  it("refuses a forbidden name even if it has a default", () => {
    const forbidden = new Set(["TOKEN"]);
    const result = expandText("${TOKEN:-x}", { environment, forbidden });
    expect(result).toEqual({ reason: expect.stringContaining("TOKEN") });
  });

  it("leaves every text without a variable unchanged", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes("${"));
        expect(expandText(text, { environment: {} })).toEqual({ value: text });
      }),
    );
  });

  it("never expands what a value contains", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(expandText("${A}", { environment: { A: value } })).toEqual({ value });
      }),
    );
  });
});

describe("expandHome", () => {
  it("replaces only a leading tilde", () => {
    expect(expandHome("~/tool", "/home/u")).toBe("/home/u/tool");
    expect(expandHome("a/~/b", "/home/u")).toBe("a/~/b");
  });
});
