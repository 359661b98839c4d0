import { describe, expect, it } from "vitest";
import { computeCost, serviceTierFactor, withVendorTotal } from "./cost.ts";

const rates = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
const million = 1_000_000;

describe("computeCost", () => {
  it("prices every kind of token per million", () => {
    const tokens = { input: million, output: million, cacheRead: million, cacheWrite: million };
    expect(computeCost(rates, tokens)).toEqual({ ...rates, total: 14.7 });
  });

  it("prices a call without usage at zero", () => {
    expect(computeCost(rates, {}).total).toBe(0);
  });

  it("prices the whole call by the highest tier below its input, including cached tokens", () => {
    const tier = (inputTokensAbove: number, input: number) => ({
      ...rates,
      inputTokensAbove,
      input,
    });
    const cost = { ...rates, tiers: [tier(200, 4), tier(1000, 8), tier(100, 3)] };
    expect(computeCost(cost, { input: 100 }).input).toBeCloseTo((100 * 2) / million);
    expect(computeCost(cost, { input: 100, cacheRead: 101 }).input).toBeCloseTo(400 / million);
    expect(computeCost(cost, { input: 1001 }).input).toBeCloseTo(8008 / million);
  });

  it("prices one-hour cache writes at twice the input rate", () => {
    const cost = computeCost(rates, { cacheWrite: million, cacheWrite1h: million / 2 });
    expect(cost.cacheWrite).toBeCloseTo(2.5 / 2 + 2);
  });

  it.each([
    ["openai", "gpt-5.4", "flex", 0.5],
    ["openai", "gpt-5.4", "priority", 2],
    ["openai", "gpt-5.5", "priority", 2.5],
    ["openai", "gpt-4.1-mini", "priority", 1.75],
    ["openai", "gpt-5.4", "default", 1],
    ["google", "gemini-3.5-flash", "FLEX", 0.5],
    ["anthropic", "claude-opus-5-5", "priority", 1],
    ["groq", "openai/gpt-oss-120b", "flex", 1],
    ["constructor", "x", "name", 1],
    ["openai", "gpt-5.4", "constructor", 1],
  ])("prices %s/%s in the tier %s at %d times its rates", (provider, id, tier, factor) => {
    expect(serviceTierFactor({ provider, id }, tier)).toBe(factor);
    expect(computeCost(rates, { input: million }, factor).total).toBe(2 * factor);
  });

  it("uses the vendor's total and scales the parts to match", () => {
    const cost = withVendorTotal(computeCost(rates, { input: million, output: million }), 6);
    expect(cost).toMatchObject({ input: 1, output: 5, total: 6 });
    expect(withVendorTotal(computeCost(rates, {}), 3).total).toBe(3);
  });
});
