import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promptArguments } from "./remote-prompts.ts";

const prompt = (...names: string[]) => ({
  name: "p",
  description: undefined,
  arguments: names.map((name) => ({ name, isRequired: true })),
});

describe("promptArguments", () => {
  it.each([
    ["Paris France", { city: "Paris", country: "France" }],
    ["country=France Paris", { city: "Paris", country: "France" }],
    ['"New York" United States', { city: "New York", country: "United States" }],
    ["other=1 x", { city: "other=1", country: "x" }],
    ["", {}],
  ])("reads %s", (text, values) => {
    expect(promptArguments(prompt("city", "country"), text)).toEqual(values);
  });

  it("passes only arguments that the prompt has", () => {
    fc.assert(
      fc.property(fc.string(), fc.uniqueArray(fc.constantFrom("a", "b", "c")), (text, names) => {
        const given = Object.keys(promptArguments(prompt(...names), text));
        expect(names).toEqual(expect.arrayContaining(given));
      }),
    );
  });
});
