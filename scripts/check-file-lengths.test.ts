import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkFileLengths } from "./check-file-lengths.ts";

function folderWith(files: Readonly<Record<string, number>>): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-lengths-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    // Comments count too, because a reader has to read them.
    writeFileSync(join(folder, path), `/**\n${" * A line.\n".repeat(lines - 2)} */\n`);
  }
  return folder;
}

it("names files that are too long, including comments", () => {
  const folder = folderWith({
    "packages/a/src/fits.ts": 400,
    "packages/a/src/long.ts": 401,
    "packages/a/src/long.test.ts": 600,
    "packages/a/src/longer.test.ts": 601,
    "packages/a/src/generated/data.ts": 900,
    "packages/a/node_modules/b/index.ts": 900,
  });
  expect(checkFileLengths(folder)).toEqual([
    "packages/a/src/long.ts: 401 lines; at most 400. Split it.",
    "packages/a/src/longer.test.ts: 601 lines; at most 600. Split it.",
  ]);
});

it("fails if there is nothing to check", () => {
  expect(() => checkFileLengths(folderWith({}))).toThrow("No TypeScript file");
});
