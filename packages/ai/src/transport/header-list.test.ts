import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeaderList } from "./header-list.ts";

const name = fc.constantFrom("accept", "Accept", "X-Id", "x-id", "content-type");
const value = fc.constantFrom("a", " b ", "c, d", "");
const step = fc.tuple(fc.constantFrom("set", "append", "delete"), name, value);

describe("HeaderList", () => {
  it("matches Node's own Headers after the same operations", () => {
    const check = (steps: [string, string, string][]) => {
      const [own, real] = [new HeaderList(), new Headers()];
      for (const [kind, key, text] of steps) {
        for (const list of [own, real]) {
          if (kind === "set") list.set(key, text);
          else if (kind === "append") list.append(key, text);
          else list.delete(key);
        }
      }
      expect([...own].sort()).toEqual([...real]);
      expect([own.get("ACCEPT"), own.has("X-ID")]).toEqual([real.get("ACCEPT"), real.has("X-ID")]);
    };
    fc.assert(fc.property(fc.array(step), check));
  });

  it("can be created from pairs, an object, Headers or another list", () => {
    const pairs: [string, string][] = [
      ["a", "1"],
      ["B", "2"],
    ];
    const expected = new Map([
      ["a", "1"],
      ["b", "2"],
    ]);
    const list = new HeaderList(pairs);
    for (const init of [pairs, Object.fromEntries(pairs), new Headers(pairs), list]) {
      expect(new Map(new HeaderList(init))).toEqual(expected);
    }
    expect([...new HeaderList()]).toEqual([]);
    const seen: string[] = [];
    list.forEach((text, key) => {
      seen.push(`${key}=${text}`);
    });
    expect(seen).toEqual(["a=1", "b=2"]);
    expect([[...list.keys()], [...list.values()]]).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
  });
});
