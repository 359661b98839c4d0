import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { longFiles } from "./long-files.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The arguments that the test command passes to vitest. */
function wordsFor(words: readonly string[], environment: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), "words-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const runner = join(folder, "vitest");
  writeFileSync(runner, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(runner, 0o755);
  const { stdout } = spawnSync(process.execPath, ["scripts/test.ts", ...words], {
    cwd: root,
    env: { PATH: `${folder}${delimiter}${process.env.PATH}`, ...environment },
    encoding: "utf8",
  });
  return stdout.trimEnd().split("\n");
}

/** The long files that do not run. */
const restingIn = (words: readonly string[]) =>
  words.flatMap((word, index) => (words[index - 1] === "--exclude" ? [word] : []));

describe("the test command", () => {
  it("names only long files that exist", () => {
    expect(longFiles.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("skips some of them, depending only on the seed", () => {
    const resting = restingIn(wordsFor([], { TAU_SEED: "1" }));
    expect(longFiles).toEqual(expect.arrayContaining(resting));
    expect(resting.length).toBeLessThan(longFiles.length);
    expect(restingIn(wordsFor([], { TAU_SEED: "1" }))).toEqual(resting);
    expect(restingIn(wordsFor([], { TAU_SEED: "2" }))).not.toEqual(resting);
  });

  it("runs all of them in CI, and those that a developer names", () => {
    expect(wordsFor([], { TAU_LONG: "1" })).toEqual(["run"]);
    const [file = ""] = longFiles;
    expect(wordsFor([file, "-t", "some"], {})).toEqual(["run", file, "-t", "some"]);
  });
});
