import fc from "fast-check";
import { expect, it } from "vitest";
import { readTraceParent, traceParentOf } from "./trace-parent.ts";

const hex = (length: number) =>
  fc
    .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
    .filter((text) => !/^0+$/.test(text));

it("reads what it has written", () => {
  fc.assert(
    fc.property(hex(32), hex(16), fc.constantFrom(0, 1), (traceId, spanId, traceFlags) => {
      const text = traceParentOf({ traceId, spanId, traceFlags });
      expect(readTraceParent(text)).toEqual({ traceId, spanId, traceFlags, isRemote: true });
    }),
  );
});

it("reads any text without throwing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(readTraceParent(text)).toBeUndefined();
    }),
  );
});

it("reads a later version with additional parts, and unknown flags", () => {
  const text = `01-${"a".repeat(32)}-${"b".repeat(16)}-ff-more`;
  expect(readTraceParent(text)).toMatchObject({ traceFlags: 1 });
});

it("writes nothing for a span that is not recorded", () => {
  const none = { traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 };
  expect(traceParentOf(none)).toBeUndefined();
});
