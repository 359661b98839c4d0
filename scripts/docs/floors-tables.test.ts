import { expect, it } from "vitest";
import { withFloorsTables } from "./floors-tables.ts";

const floors = [["base"], ["left", "right"]];
const contents = { base: "the ground", left: "a door", right: "a window" };
const page = "before\n\n<!-- floors: src -->\n| stale |\n| --- |\n\nafter\n";

it("replaces the table below a marker with the floors, highest first", () => {
  const written = withFloorsTables(page, [{ root: "src", floors, contents }]);
  expect(written).toBe(
    [
      "before\n",
      "<!-- floors: src -->",
      "| Floor | Folder | What is in it |",
      "| --- | --- | --- |",
      "| 2 | `left/` | a door |",
      "| 2 | `right/` | a window |",
      "| 1 | `base/` | the ground |",
      "\nafter\n",
    ].join("\n"),
  );
  expect(withFloorsTables(written, [{ root: "src", floors, contents }])).toBe(written);
});

it.each([
  ["a folder without a text", page, { base: "the ground", left: "a door" }, "src/right"],
  ["a text without a folder", page, { ...contents, attic: "dust" }, "no floor for src/attic"],
  ["a root that has no row", page.replace("src", "lib"), contents, "no row for lib"],
  ["a page without a table", "before", contents, "no marker"],
])("refuses %s", (_, text, given, reason) => {
  expect(() => withFloorsTables(text, [{ root: "src", floors, contents: given }])).toThrow(reason);
});
