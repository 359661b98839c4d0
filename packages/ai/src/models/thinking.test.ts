import { describe, expect, it } from "vitest";
import {
  clampThinkingLevel,
  nextThinkingLevel,
  supportedThinkingLevels,
  thinkingBudget,
} from "./thinking.ts";

const plain = { reasoning: true };
const mapped = {
  reasoning: true,
  thinkingLevelMap: { off: null, minimal: null, xhigh: "xhigh", max: null },
};

describe("thinking levels", () => {
  it("supports only off without reasoning", () => {
    expect(supportedThinkingLevels({ reasoning: false })).toEqual(["off"]);
    expect(nextThinkingLevel({ reasoning: false }, "off")).toBeUndefined();
  });

  it("offers xhigh and max only if the model lists them, and other levels unless excluded", () => {
    expect(supportedThinkingLevels(plain)).toEqual(["off", "minimal", "low", "medium", "high"]);
    expect(supportedThinkingLevels(mapped)).toEqual(["low", "medium", "high", "xhigh"]);
  });

  it("clamps upwards first, then downwards", () => {
    expect(clampThinkingLevel(mapped, "off")).toBe("low");
    expect(clampThinkingLevel(mapped, "max")).toBe("xhigh");
    expect(clampThinkingLevel(plain, "xhigh")).toBe("high");
    expect(clampThinkingLevel({ reasoning: false }, "high")).toBe("off");
  });

  it("cycles in order and starts over after the last", () => {
    expect(nextThinkingLevel(mapped, "low")).toBe("medium");
    expect(nextThinkingLevel(mapped, "xhigh")).toBe("low");
  });

  it("uses budgets from the settings, and the budget of high for higher levels", () => {
    expect(thinkingBudget("low")).toBe(2048);
    expect(thinkingBudget("max", { high: 9000 })).toBe(9000);
    expect(thinkingBudget("xhigh")).toBe(16_384);
  });
});
