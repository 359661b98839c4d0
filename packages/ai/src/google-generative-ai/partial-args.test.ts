import { describe, expect, it } from "vitest";
import { PartialArgs } from "./partial-args.ts";

describe("PartialArgs", () => {
  it("puts texts together piece by piece, wherever they belong", () => {
    const args = new PartialArgs();
    args.add({ jsonPath: "$.list[0].name", stringValue: "Egg" });
    args.add({ jsonPath: "$.list[0].name", stringValue: "s" });
    args.add({ jsonPath: "$.list[1].count", numberValue: 2 });
    args.add({ jsonPath: "$['odd key'].on", boolValue: false });
    args.add({ jsonPath: "$.none", nullValue: "NULL_VALUE" });
    expect(args.value).toEqual({
      list: [{ name: "Eggs" }, { count: 2 }],
      "odd key": { on: false },
      none: null,
    });
  });

  it.each([
    ["", {}],
    ["$", {}],
    ["$.__proto__.polluted", {}],
    ["$.list[99999999]", {}],
    [`$${".a".repeat(1000)}`, {}],
    ["$.text.below", { text: "a" }],
    ["$.list.name", { text: "a", list: [1] }],
  ])("ignores a path that leads nowhere: %.40s", (jsonPath, expected) => {
    const args = new PartialArgs();
    if ("text" in expected) args.add({ jsonPath: "$.text", stringValue: "a" });
    if ("list" in expected) args.add({ jsonPath: "$.list[0]", numberValue: 1 });
    args.add({ jsonPath, stringValue: "x" });
    expect(args.value).toEqual(expected);
    expect({}).not.toHaveProperty("polluted");
  });
});
