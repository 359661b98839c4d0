import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localNames } from "./tool-names.ts";

const remote = fc.record({ server: fc.string({ minLength: 1 }), tool: fc.string() });
const simple = fc.record({
  server: fc.string({ unit: fc.constantFrom("a", "-", "_"), minLength: 1, maxLength: 3 }),
  tool: fc.string({ unit: fc.constantFrom("a", "-", "_", "é"), maxLength: 3 }),
});
const distinct = (of: fc.Arbitrary<{ server: string; tool: string }>) =>
  fc.uniqueArray(of, { selector: ({ server, tool }) => `${server}\0${tool}`, maxLength: 30 });

describe("localNames", () => {
  it("replaces characters other than letters, digits and underscores", () => {
    const names = localNames([{ server: "my-server", tool: "get.issue/now" }]);
    expect(names).toEqual(["mcp__my_server__get_issue_now"]);
  });

  it("shortens a name of more than 64 characters with a hash of both names", () => {
    const tool = "t".repeat(60);
    const [name] = localNames([{ server: "long", tool }]);
    expect(name).toBe(`mcp__long__${"t".repeat(44)}_05ff4b17`);
    expect(name).toHaveLength(64);
  });

  it("gives a hash to all names that collide", () => {
    const names = localNames([
      { server: "a-b", tool: "x" },
      { server: "a_b", tool: "x" },
      { server: "a_b", tool: "y" },
    ]);
    expect(names[0]).toMatch(/^mcp__a_b__x_[0-9a-f]{8}$/);
    expect(names[1]).toMatch(/^mcp__a_b__x_[0-9a-f]{8}$/);
    expect(names[0]).not.toBe(names[1]);
    expect(names[2]).toBe("mcp__a_b__y");
  });

  it("leaves a name with its first owner", () => {
    const names = localNames([{ server: "a-b", tool: "x" }], new Set(["mcp__a_b__x"]));
    expect(names[0]).toMatch(/^mcp__a_b__x_[0-9a-f]{8}$/);
  });

  it("makes unique names that every vendor accepts", () => {
    fc.assert(
      fc.property(fc.oneof(distinct(remote), distinct(simple)), (list) => {
        const names = localNames(list);
        const given = names.filter((name) => name !== undefined);
        for (const name of given) expect(name).toMatch(/^[A-Za-z0-9_]{1,64}$/);
        expect(new Set(given).size).toBe(given.length);
        expect(names).toHaveLength(list.length);
      }),
    );
  });

  it("does not depend on the order", () => {
    fc.assert(
      fc.property(distinct(simple), (list) => {
        const names = new Map(localNames(list).map((name, at) => [list[at], name]));
        const turned = [...list].reverse();
        fc.pre([...names.values()].every((name) => name !== undefined));
        expect(localNames(turned)).toEqual(turned.map((item) => names.get(item)));
      }),
    );
  });
});
