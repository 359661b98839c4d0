import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const path = fileURLToPath(new URL("young-space.ts", import.meta.url));

/**
 * The sizes in MiB that the young generation reaches while a program keeps many young objects alive: at first, and
 * after a collection like that of a host at rest.
 */
function youngSpaceMib(isBound: boolean): { first: number; later: number } {
  const code = `
    import { getHeapSpaceStatistics } from "node:v8";
    const { youngSpaceBound } = await import(${JSON.stringify(path)});
    const bound = youngSpaceBound();
    function largest() {
      let size = 0;
      for (let round = 0; round < 80; round += 1) {
        if (${isBound}) bound();
        const kept = [];
        for (let at = 0; at < 60_000; at += 1) kept.push({ at, text: [at] });
        const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
        size = Math.max(size, young.space_size);
      }
      return size / 2 ** 20;
    }
    const first = largest();
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    console.log(JSON.stringify({ first, later: largest() }));`;
  // Node would choose a smaller limit on a machine with little memory.
  const flags = ["--expose-gc", "--max-semi-space-size=64", "--input-type=module", "--eval"];
  return JSON.parse(execFileSync(process.execPath, [...flags, code], { encoding: "utf8" }));
}

it("stops the growth of the young generation in a host that opens sessions", () => {
  const unbound = youngSpaceMib(false).first;
  const bound = youngSpaceMib(true).first;
  expect(unbound).toBeGreaterThanOrEqual(32);
  expect(bound).toBeLessThanOrEqual(unbound / 2);
});

it("lets it grow again once V8 has shrunk it", () => {
  const { later } = youngSpaceMib(true);
  // The limit. V8 may exceed it by one step, depending on when it collects.
  expect(later).toBeGreaterThanOrEqual(16);
});
