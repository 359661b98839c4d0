import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lineOf } from "./line-of.ts";

const text = `{
  // A comment.
  "retry": {
    "maxRetries": "five",
    "a.b": { "c": [
      1,
      { "d": 2 },
    ] },
  },
  "task.budget.maxCostUsd": 1,
}
`;

let path: string;
beforeAll(() => {
  path = join(mkdtempSync(join(tmpdir(), "tau-line-")), "settings.json");
  writeFileSync(path, text);
});
afterAll(() => rmSync(join(path, ".."), { recursive: true }));

it.each([
  ["retry.maxRetries", 4],
  ["retry.a.b.c[1].d", 7],
  ["retry.nothing", 3],
  ["task.budget.maxCostUsd", 10],
  ["elsewhere", 1],
])("%s is in line %i", async (member, line) => expect(await lineOf(path, member)).toBe(line));

it("is undefined for a file that cannot be read", async () => {
  expect(await lineOf(`${path}.gone`, "retry")).toBeUndefined();
});
