import { describeChange } from "@tau-agent/system";
import { expect, it } from "vitest";
import { boundedDetails } from "./bounded-details.ts";

const lines = (count: number, text: string) => `${text}\n`.repeat(count);

it("keeps a change of typical size unchanged", async () => {
  const change = await describeChange("a.txt", lines(400, "old"), lines(400, "new"));
  expect(boundedDetails(change)).toBe(change);
});

it("truncates the diff of a huge change, omits its patch, and says so", async () => {
  const change = await describeChange("a.txt", lines(50_000, "old"), lines(50_000, "new"));
  const { diff, patch, firstChangedLine, truncation } = boundedDetails(change);
  expect(diff.length).toBeLessThan(60_000);
  expect(diff.split("\n").at(-1)).toBe("... (98000 more lines)");
  expect(patch).toBeUndefined();
  expect(firstChangedLine).toBe(1);
  expect(truncation).toEqual({ diffLines: 100_000, patchBytes: change.patch.length });
});

it("shows nothing of a line that is too long", async () => {
  const change = await describeChange("a.txt", "old\n", `${"x".repeat(1_000_000)}\n`);
  const { diff, patch } = boundedDetails(change);
  expect(diff).toBe("-1 old\n... (1 more lines)");
  expect(patch).toBeUndefined();
});
