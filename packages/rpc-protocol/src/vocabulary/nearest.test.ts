import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest, nearestHint } from "./nearest.ts";

const options = ["mode", "model", "models", "print", "provider", "no-session", "session"];

describe("nearest", () => {
  it.each([
    ["modle", "model"],
    ["mdoe", "mode"],
    ["pirnt", "print"],
    ["provder", "provider"],
    ["no-sesion", "no-session"],
    ["Sesion", "session"],
    ["mdels", "models"],
  ])("matches %s with %s", (word, name) => expect(nearest(word, options)).toBe(name));

  it("prefers a name with the same beginning", () => {
    expect(nearest("bsh", ["zsh", "bash"])).toBe("bash");
    expect(nearest("lst", ["test", "list"])).toBe("list");
  });

  it.each(["", "x", "plan", "printing", "m", "ode"])("finds no match for %j", (word) => {
    expect(nearest(word, ["print", "model"])).toBeUndefined();
  });

  it("finds a name that is one or two edits away and suggests it", () => {
    const name = "defaultProvider";
    const edit = fc.tuple(fc.nat(name.length - 1), fc.constantFrom("cut", "double", "change"));
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
        const word = edits.reduce((text, [at, kind]) => {
          const middle = { cut: "", double: (text[at] ?? "").repeat(2), change: "#" }[kind];
          return text.slice(0, at) + middle + text.slice(at + 1);
        }, name);
        expect(nearest(word, ["other", name])).toBe(name);
      }),
    );
    expect(nearestHint("defaultProvidr", [name], "--")).toBe("; the nearest is --defaultProvider");
    expect(nearestHint("else", [name])).toBe("");
  });
});
