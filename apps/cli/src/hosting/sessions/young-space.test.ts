import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const path = fileURLToPath(new URL("young-space.ts", import.meta.url));

/** The size in MiB that the young generation reaches while a program keeps many young objects alive. */
function youngSpaceMib(isBound: boolean): number {
  const code = `
    import { getHeapSpaceStatistics } from "node:v8";
    const { youngSpaceBound } = await import(${JSON.stringify(path)});
    const bound = youngSpaceBound();
    let largest = 0;
    for (let round = 0; round < 80; round += 1) {
      if (${isBound}) bound();
      const kept = [];
      for (let at = 0; at < 60_000; at += 1) kept.push({ at, text: [at] });
      const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
      largest = Math.max(largest, young.space_size);
    }
    console.log(largest / 2 ** 20);`;
  // Node would choose a smaller limit on a machine with little memory.
  const flags = ["--max-semi-space-size=64", "--input-type=module", "--eval"];
  return Number(execFileSync(process.execPath, [...flags, code], { encoding: "utf8" }));
}

it("stops the growth of the young generation in a host that opens sessions", () => {
  const unbound = youngSpaceMib(false);
  const bound = youngSpaceMib(true);
  expect(unbound).toBeGreaterThanOrEqual(32);
  expect(bound).toBeLessThanOrEqual(unbound / 2);
});
