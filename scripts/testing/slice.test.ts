import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const home = fileURLToPath(new URL(".", import.meta.url));

/** The numbers below 100 that `slice` selects in a process with this environment. */
function taken(count: number, environment: Record<string, string>): number[] {
  const code = `import { slice } from "./slice.ts";
    console.log(JSON.stringify(slice([...Array(100).keys()], ${count})));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: home,
    env: { PATH: process.env.PATH, ...environment },
    encoding: "utf8",
  });
  return JSON.parse(stdout);
}

it("selects some cases in order, depending only on the seed", () => {
  const one = taken(10, { TAU_SEED: "7" });
  expect(one).toHaveLength(10);
  expect(one).toEqual(one.toSorted((a, b) => a - b));
  expect(taken(10, { TAU_SEED: "7" })).toEqual(one);
  expect(taken(10, { TAU_SEED: "8" })).not.toEqual(one);
});

it("selects all cases in test:long, or if there are no more than requested", () => {
  expect(taken(10, { TAU_SEED: "7", TAU_LONG: "1" })).toHaveLength(100);
  expect(taken(100, { TAU_SEED: "7" })).toHaveLength(100);
});
