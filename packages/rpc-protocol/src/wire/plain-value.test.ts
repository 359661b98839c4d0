import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPlainValue } from "./plain-value.ts";

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
});
const odd = fc.constantFrom<unknown>(
  () => 1,
  Symbol("s"),
  Promise.resolve(),
  new WeakMap(),
  Object.assign(() => {}, { toJSON: () => 1n }),
  { toJSON: () => ({ deeper: 1n }) },
  { toJSON: "no function" },
  new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new TypeError("no");
      },
    },
  ),
  new Proxy(
    {},
    {
      ownKeys: () => {
        throw new TypeError("no");
      },
    },
  ),
  new Proxy([], {
    get: () => {
      throw new TypeError("no");
    },
  }),
);

describe("a plain value", () => {
  it("can be written as JSON and copied, whatever it was made from", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anything, odd), { maxLength: 3 }), (members) => {
        const plain = toPlainValue({ members, again: members });
        expect(() => JSON.stringify(plain)).not.toThrow();
        expect(() => structuredClone(plain)).not.toThrow();
      }),
    );
  });

  it("is the value itself if that can be written and copied, including dates and maps", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toPlainValue(value)).toBe(value);
      }),
    );
    const value = { at: new Date(0), none: undefined, by: new Map([[1, "a"]]) };
    expect(toPlainValue(value)).toBe(value);
  });

  it("keeps valid members next to invalid ones", () => {
    const cycle: Record<string, unknown> = {
      big: 2n ** 70n,
      at: new Date(0),
      call() {},
      list: [() => 1],
    };
    cycle.self = cycle;
    expect(toPlainValue(cycle)).toEqual({
      big: "1180591620717411303424",
      at: "1970-01-01T00:00:00.000Z",
      list: [undefined],
      self: "[circular]",
    });
  });

  it("truncates values that are too deep for readers", () => {
    const nested = (levels: number) => {
      let value: unknown = 1;
      for (let depth = 0; depth < levels; depth++) value = [value];
      return value;
    };
    const large = nested(900);
    expect(toPlainValue(large)).toBe(large);
    const deep = nested(100_000);
    expect(JSON.stringify(toPlainValue(deep))).toContain("[too deep]");
  });
});
