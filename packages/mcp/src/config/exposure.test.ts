import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposureOf } from "./exposure.ts";

const entry = {
  exposure: "deferred",
  toolExposure: [
    ["get_*", "direct"],
    ["get_secret", "hidden"],
    ["*", "deferred"],
  ],
} as const;

describe("exposureOf", () => {
  it("prefers an exact name over an earlier pattern", () => {
    expect(exposureOf(entry, "get_secret")).toBe("hidden");
  });

  it("takes the first matching pattern", () => {
    expect(exposureOf(entry, "get_issue")).toBe("direct");
  });

  it("falls back to the server's exposure, then to none", () => {
    expect(exposureOf({ toolExposure: [], exposure: "hidden" }, "a")).toBe("hidden");
    expect(exposureOf({ toolExposure: [], exposure: undefined }, "a")).toBeUndefined();
  });

  it("agrees with a regular expression on all patterns", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (pattern, name) => {
        fc.pre(pattern.includes("*"));
        const tool = name.replaceAll("*", "a");
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
        const found = exposureOf(
          { toolExposure: [[pattern, "hidden"]], exposure: undefined },
          tool,
        );
        expect(found === "hidden").toBe(expression.test(tool));
      }),
    );
  });
});
