import { expect, it } from "vitest";
import { readOptions } from "./worker-options.ts";

const read = (...argv: string[]) =>
  readOptions(["--redis", "redis://localhost", ...argv], { TAU_STORE: "redis://localhost" }, ".");

it("names the option that a misspelt one is nearest to", () => {
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
