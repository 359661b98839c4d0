import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FailedFiles } from "./failed-files.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Runs the test command with a fake runner that fails with this note, but passes if a file is named. */
function runWith(note: FailedFiles | undefined, environment: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "failed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const runner = join(folder, "vitest");
  const write =
    note === undefined ? "" : `printf '%s' '${JSON.stringify(note)}' >"$TAU_FAILED_FILES"`;
  writeFileSync(
    runner,
    `#!/bin/sh\necho "run: $*"\ncase "$*" in *--maxWorkers=1) exit 0;; esac\n${write}\nexit 1\n`,
  );
  chmodSync(runner, 0o755);
  const { status, stdout } = spawnSync(process.execPath, ["scripts/test.ts"], {
    cwd: root,
    env: { PATH: `${folder}${delimiter}${process.env.PATH}`, TAU_LONG: "1", ...environment },
    encoding: "utf8",
  });
  return { status, runs: stdout.split("\n").filter((line) => line.startsWith("run: ")) };
}

describe("the test command", () => {
  const twoFailed = { files: ["a.test.ts", "b.test.ts"], isRepeatable: true };

  it("runs files that failed in CI once more, on their own", () => {
    expect(runWith(twoFailed, { CI: "true" })).toEqual({
      status: 0,
      runs: ["run: run", "run: run a.test.ts b.test.ts --maxWorkers=1"],
    });
  });

  it.each<[string, FailedFiles | undefined, Record<string, string>]>([
    ["outside CI", twoFailed, {}],
    [
      "after a property or something besides tests",
      { ...twoFailed, isRepeatable: false },
      { CI: "true" },
    ],
    ["where many failed", { ...twoFailed, files: Array(7).fill("a.test.ts") }, { CI: "true" }],
    ["without a note", undefined, { CI: "true" }],
  ])("fails at once %s", (_, note, environment) => {
    expect(runWith(note, environment)).toEqual({ status: 1, runs: ["run: run"] });
  });
});
