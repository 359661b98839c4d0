import { describe, expect, it } from "vitest";
import { createOptInFilter, createResourceFilter } from "./resource-filter.ts";

const files = ["/p/extensions/a.ts", "/p/extensions/b.ts", "/p/skills/one/SKILL.md"];
const chosen = (...entries: string[]) => files.filter(createResourceFilter(entries, "/p"));

describe("a list of resource entries", () => {
  it.each([
    [[], files],
    [["extensions/*.ts"], files.slice(0, 2)],
    [["a.ts"], files.slice(0, 1)],
    [["one"], files.slice(2)],
    [["!extensions/a.ts"], files.slice(1)],
    [["!**/*.ts", "+./extensions/b.ts"], files.slice(1)],
    [["extensions/*", "-extensions/b.ts"], files.slice(0, 1)],
    [["+extensions/b.ts", "-extensions/b.ts", "b.ts"], []],
    [["-skills/one"], files.slice(0, 2)],
  ])("%j selects the right files", (entries, expected) => {
    expect(chosen(...entries)).toEqual(expected);
  });
});

it("a package without its own resources contributes what the last matching entry names", () => {
  const opted = (...entries: string[]) => files.filter(createOptInFilter(entries, "/p"));
  expect(opted()).toEqual([]);
  expect(opted("extensions/*", "-extensions/b.ts")).toEqual(files.slice(0, 1));
});
