import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readOptions } from "./worker-options.ts";

const readIn = (folder: string, ...argv: string[]) =>
  readOptions(
    ["--redis", "redis://localhost", ...argv],
    { TAU_STORE: "redis://localhost" },
    folder,
  );
const read = (...argv: string[]) => readIn(".", ...argv);

it("suggests the nearest option for a misspelt one", () => {
  const mistakes = [
    ["--reddis", "redis://x"],
    ["--concurency=2"],
    ["--lease", "3000"],
    ["-q", "prompts"],
  ] as const;
  expect(
    mistakes.map((words) => {
      try {
        return read("--queue", "q", ...words);
      } catch (error) {
        return (error as Error).message;
      }
    }),
  ).toEqual([
    "there is no option --reddis; the nearest is --redis",
    "there is no option --concurency; the nearest is --concurrency",
    "there is no option --lease",
    "there is no option -q",
  ]);
});

it("reads policy files at start and passes their content to hosts", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-worker-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "company.json"), '{ "models": [] }');
  const host = ["--policy", "company.json", "--policy=company.json", "--policy", '{"tools":{}}'];
  expect(readIn(folder, "--queue", "q", "--", ...host).host).toEqual([
    ...["--policy", '{"models":[]}', '--policy={"models":[]}', "--policy", '{"tools":{}}'],
  ]);
  expect(() => readIn(folder, "--queue", "q", "--", "--policy", "other.json")).toThrow(
    /^--policy: other\.json: ENOENT/,
  );
});
