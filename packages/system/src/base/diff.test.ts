import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workspace } from "../processes/__fixtures__/workspace.ts";
import { describeChange } from "./diff.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}`);

it("numbers lines and shows four lines of context around each change", async () => {
  const before = numbered(30);
  const after = before.with(9, "changed").toSpliced(24, 0, "extra");
  const { diff, firstChangedLine } = await describeChange("a", before.join("\n"), after.join("\n"));
  expect(firstChangedLine).toBe(10);
  expect(diff.split("\n")).toEqual([
    "    ...",
    ...[6, 7, 8, 9].map((line) => `  ${line} line ${line}`),
    "-10 line 10",
    "+10 changed",
    ...[11, 12, 13, 14].map((line) => ` ${line} line ${line}`),
    "    ...",
    ...[21, 22, 23, 24].map((line) => ` ${line} line ${line}`),
    "+25 extra",
    ...[25, 26, 27, 28].map((line) => ` ${line} line ${line}`),
    "    ...",
  ]);
});

it("makes a patch that git applies byte for byte", async () => {
  const line = fc.constantFrom("a", "b", "", "c\r", "é", "x y");
  const text = fc
    .tuple(fc.array(line, { maxLength: 25 }), fc.boolean())
    .map(([lines, isClosed]) => lines.join("\n") + (isClosed && lines.length > 0 ? "\n" : ""));
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after && before !== "" && after !== "");
      workspace.write({ "f.txt": before });
      const { patch } = await describeChange("f.txt", before, after);
      execFileSync("git", ["apply", "--unsafe-paths", "--whitespace=nowarn", "-"], {
        cwd: workspace.directory,
        input: patch,
      });
      expect(workspace.read("f.txt")).toBe(after);
    }),
    { numRuns: 60 },
  );
});

it("compares large files that differ everywhere in a short time", async () => {
  const before = numbered(60_000).join("\n");
  const after = numbered(60_000)
    .map((line) => `new ${line}`)
    .join("\n");
  const started = performance.now();
  const { firstChangedLine } = await describeChange("a", before, after);
  expect(firstChangedLine).toBe(1);
  expect(performance.now() - started).toBeLessThan(5000);
});
