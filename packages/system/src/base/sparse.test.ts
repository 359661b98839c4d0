import fc from "fast-check";
import { expect, it } from "vitest";
import { SparseMap, SparseSet } from "./sparse.ts";

const key = fc.integer({ min: 0, max: 3 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key, value: fc.integer() }),
  fc.record({ kind: fc.constant("delete" as const), key }),
  fc.record({ kind: fc.constant("clear" as const) }),
);

it("behaves like a map and like a set", () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const [sparse, map] = [new SparseMap<number, number>(), new Map<number, number>()];
      const [items, set] = [new SparseSet<number>(), new Set<number>()];
      for (const next of steps) {
        if (next.kind === "set") {
          sparse.set(next.key, next.value);
          map.set(next.key, next.value);
          items.add(next.key);
          set.add(next.key);
        } else if (next.kind === "delete") {
          expect(sparse.delete(next.key)).toBe(map.delete(next.key));
          expect(items.delete(next.key)).toBe(set.delete(next.key));
        } else {
          for (const each of [sparse, map, items, set]) each.clear();
        }
        expect([...sparse]).toEqual([...map]);
        expect([...sparse.keys()]).toEqual([...map.keys()]);
        expect([...sparse.values()]).toEqual([...map.values()]);
        expect([...items]).toEqual([...set]);
        expect([sparse.size, items.size]).toEqual([map.size, set.size]);
        for (const at of [0, 1, 2, 3]) {
          expect([sparse.get(at), sparse.has(at)]).toEqual([map.get(at), map.has(at)]);
          expect(items.has(at)).toBe(set.has(at));
        }
      }
    }),
  );
});
