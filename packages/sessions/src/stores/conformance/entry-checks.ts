import type { StoreEntry } from "../../log/store/session-store.ts";
import { type Check, ensure, same } from "./bench.ts";

/** Values that JSON can represent and databases tend to lose. */
const hard: StoreEntry = {
  nul: "a\u0000b",
  high: "x\ud83dy",
  low: "\udca9",
  pair: "\ud83d\udca9",
  separators: "\u2028\u2029\r\n\t\u001b\u007f\ufeff",
  composed: ["\u00e9", "e\u0301"],
  numbers: [0, 1e21, 5e-324, 0.1, 9007199254740991, -1.5e300],
  empty: ["", {}, [], null, false],
  deep: [[[[[[[["x"]]]]]]]],
  order: { b: 1, a: 2, "": 3, 10: 4, 2: 5 },
  long: "é".repeat(300_000),
  ...(JSON.parse('{"odd":{"__proto__":{"x":1},"constructor":2,"toString":null}}') as StoreEntry),
};

/** Entries come back unchanged and in order, in complete batches, each id once. */
export const entryChecks: readonly Check[] = [
  {
    name: "an unknown session loads as null",
    run: async (bench, key) => {
      await bench.holds(key, null);
      const lease = await bench.acquire(key);
      await bench.holds(key, null);
      await bench.store.append(key, [], lease);
      await bench.store.release(lease);
    },
  },
  {
    name: "entries come back deep-equal",
    run: async (bench, key) => {
      const own = JSON.parse('{"__proto__":{"polluted":true}}') as StoreEntry;
      const entries = [bench.entry(hard), { ...bench.entry(), ...own }, bench.entry()];
      // A spread would set the prototype.
      Object.defineProperty(entries[1], "__proto__", {
        value: { polluted: true },
        enumerable: true,
        configurable: true,
        writable: true,
      });
      await bench.holds(key, await bench.write(key, entries));
    },
  },
  {
    name: "entries are copied in and out",
    run: async (bench, key) => {
      const entry = { ...bench.entry(), list: [1] };
      const all = structuredClone(await bench.write(key, [entry]));
      entry.list.push(2);
      const loaded = (await bench.store.load(key)) as { list?: number[] }[] | null;
      same(loaded, all, "a change of the caller's entry reached the store");
      loaded?.at(-1)?.list?.push(3);
      await bench.holds(key, all);
    },
  },
  {
    name: "batches are stored in the order of the calls",
    run: async (bench, key) => {
      const lease = await bench.acquire(key);
      const batches = Array.from({ length: 25 }, (_, index) =>
        bench.entries(((index * 7) % 5) + 1),
      );
      await Promise.all(batches.map((batch) => bench.store.append(key, batch, lease)));
      await bench.holds(key, batches.flat());
      await bench.store.release(lease);
    },
  },
  {
    name: "readers see whole batches",
    run: async (bench, key) => {
      const lease = await bench.acquire(key);
      const size = 40;
      let isWriting = true;
      const read = async () => {
        while (isWriting) {
          const count = (await bench.store.load(key))?.length ?? 0;
          ensure(count % size === 0, `load() saw ${count} entries, a part of a batch of ${size}`);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const readers = Promise.all([read(), read()]);
      // Its rejection is reported below; without this line it would be unhandled meanwhile.
      readers.catch(() => undefined);
      try {
        for (let index = 0; index < 12; index++) {
          await bench.store.append(key, bench.entries(size), lease);
        }
      } finally {
        isWriting = false;
      }
      await readers;
      await bench.store.release(lease);
    },
  },
  {
    name: "an entry whose id the session has is left out",
    run: async (bench, key) => {
      const lease = await bench.acquire(key);
      const [first, second, third, fourth] = bench.entries(4) as [
        StoreEntry,
        StoreEntry,
        StoreEntry,
        StoreEntry,
      ];
      await bench.store.append(key, [first, second], lease);
      await bench.store.append(key, [{ ...first, customType: "changed" }, third, third], lease);
      await bench.store.append(key, [first, second, third], lease);
      await bench.store.release(lease);
      const later = await bench.acquire(key);
      await bench.store.append(key, [second, fourth, first], later);
      await bench.store.release(later);
      await bench.holds(key, [first, second, third, fourth]);
    },
  },
  {
    name: "ids count per session",
    run: async (bench) => {
      const entries = bench.entries(2);
      for (const key of [bench.key("one"), bench.key("two"), bench.key("one", "part")]) {
        const lease = await bench.acquire(key);
        await bench.store.append(key, entries, lease);
        await bench.store.release(lease);
        await bench.holds(key, entries);
      }
    },
  },
  {
    name: "a large batch is stored as a whole",
    run: async (bench, key) => {
      await bench.holds(key, await bench.write(key, bench.entries(2500)));
    },
  },
];
