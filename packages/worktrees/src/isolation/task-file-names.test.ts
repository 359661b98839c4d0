import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { taskFileNames } from "./task-file-names.ts";

describe("file names of tasks", () => {
  it("are derived from the ids as far as file names allow, and are unique", () => {
    const long = "l".repeat(300);
    const ids = ["api", "x y", "x/y", "X?Y", "..", "-", "日本語", `${long}1`, `${long}2`, "x-y-2"];
    expect([...taskFileNames(ids).values()]).toEqual([
      "api",
      "x-y",
      "x-y-2",
      "X-Y-3",
      "task",
      "task-2",
      "日本語",
      "l".repeat(40),
      `${"l".repeat(40)}-2`,
      "x-y-2-2",
    ]);
  });

  it("are safe and distinct whatever the ids are", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 20 }), (ids) => {
        const names = [...taskFileNames(ids).values()];
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length);
        for (const name of names) {
          expect(name).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}_-]*$/u);
          expect(Buffer.byteLength(name)).toBeLessThan(180);
        }
      }),
    );
  });
});
