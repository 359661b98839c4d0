import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { MemoryWorkspace } from "../__fixtures__/memory-workspace.ts";
import { searchByListing } from "./list-search.ts";

/** A workspace with the given number of files, where each read takes a while. */
function slowPlace(count: number) {
  const place = new MemoryWorkspace("/work");
  const numbers = Array.from({ length: count }, (_, index) => index);
  place.put(Object.fromEntries(numbers.map((at) => [`f${at + 100}.txt`, `line ${at}\nneedle\n`])));
  place.put({ "large.txt": `${"x".repeat(2_000_000)}\nneedle\n` });
  let open = 0;
  const seen = { most: 0, reads: 0 };
  const read = place.read.bind(place);
  place.read = async (path, options) => {
    seen.reads += 1;
    open += 1;
    seen.most = Math.max(seen.most, open);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    open -= 1;
    return read(path, options);
  };
  return { place, seen };
}

const request = { kind: "grep", pattern: "needle", path: "/work", limit: 1000 } as const;

it("reads several files at the same time, and finds lines in the order of file names", async () => {
  const { place, seen } = slowPlace(100);
  const { matches } = await searchByListing(place, request);
  const names = matches.map(({ path }) => path.slice("/work/".length));
  expect(names).toHaveLength(101);
  expect(names).toEqual(names.toSorted());
  expect(names.at(-1)).toBe("large.txt");
  expect(seen.most).toBeGreaterThan(10);
});

it("reads only a few more files than it shows", async () => {
  const { place, seen } = slowPlace(100);
  const { matches, truncated } = await searchByListing(place, { ...request, limit: 2 });
  expect(matches).toHaveLength(2);
  expect(truncated).toBe(true);
  expect(seen.reads).toBeLessThan(30);
});
