import { expect, it } from "vitest";
import { compare } from "./compare.ts";
import { type Contestant, scenario } from "./scenario.ts";

const contestant = (name: string): Contestant => ({ name, version: "1", command: ["true"] });

it("lets all contestants take turns, and continues without one that fails", async () => {
  const turns: string[] = [];
  const take = (name: string, value: number) => async () => {
    turns.push(name);
    if (name === "broken" && turns.length > 5) throw new Error("it broke");
    return { size: value };
  };
  const [row] = await compare(
    scenario({
      rows: { size: { what: "size", unit: "bytes" } },
      rounds: 3,
      host: async (_, { name }) => take(name, name === "tau" ? 1 : 2),
      floor: async () => take("floor", 4),
    }),
    { tau: contestant("tau"), peers: [contestant("pi"), contestant("broken")], isQuick: false },
  );
  expect(turns.slice(0, 8)).toEqual([
    ...["tau", "pi", "broken", "floor"],
    ...["tau", "pi", "floor", "broken"],
  ]);
  expect(turns.filter((name) => name === "tau")).toHaveLength(4);
  expect(row?.tau?.median).toBe(1);
  expect(row?.floorResult?.median).toBe(4);
  expect(row?.peers).toEqual([{ name: "pi", result: { min: 2, median: 2, count: 3 } }]);
  expect(row?.failures).toEqual(["broken: it broke"]);
});

it("has each contestant follow each other one equally often", async () => {
  const turns: string[] = [];
  const take = (name: string) => async () => {
    turns.push(name);
    return { size: 1 };
  };
  await compare(
    scenario({
      rows: { size: { what: "size" } },
      rounds: 4,
      warmUps: 0,
      host: async (_, { name }) => take(name),
      floor: async () => take("floor"),
    }),
    { tau: contestant("tau"), peers: [contestant("a"), contestant("b")], isQuick: false },
  );
  const pairs = turns.flatMap((name, at) => (at % 4 === 0 ? [] : [`${turns[at - 1]} ${name}`]));
  expect(new Set(pairs).size).toBe(12);
});
