import { describe, expect, it } from "vitest";
import { TimeAllowance } from "./time-allowance.ts";

const forever = (): never => {
  for (;;);
};
const patient = { textMs: 20, totalMs: 60_000 };

describe("a time allowance", () => {
  it("returns what the work returns, and throws what it throws", () => {
    const allowance = new TimeAllowance(patient);
    expect(allowance.run(1_000, () => allowance.run(900, () => "inner"))).toBe("inner");
    const broken = (): never => {
      throw new TypeError("broken");
    };
    expect(() => allowance.run(1_000, broken)).toThrow(TypeError);
  });

  it("interrupts work that never ends, even inside other work and in a regular expression", () => {
    const allowance = new TimeAllowance(patient);
    expect(allowance.run(1_000, forever)).toBeUndefined();
    const hopeless = `${"a".repeat(200)}!`;
    expect(allowance.run(1_000, () => /^(a+)+$/.test(hopeless))).toBeUndefined();
    const outer = new TimeAllowance({ ...patient, textMs: 5_000 });
    expect(outer.run(1_000, () => ["kept", allowance.run(900, forever)])).toEqual([
      "kept",
      undefined,
    ]);
  });

  it("processes only small texts once slow texts have used up the total", () => {
    const allowance = new TimeAllowance({ textMs: 20, totalMs: 50 });
    let begun = 0;
    const slow = (): never => {
      begun += 1;
      return forever();
    };
    for (let text = 0; text < 1_000; text += 1) allowance.run(1_000, slow);
    expect(begun).toBeLessThan(100);
    expect(allowance.run(1_000, () => "large")).toBeUndefined();
    expect(allowance.run(100, () => "small")).toBe("small");
  });
});
