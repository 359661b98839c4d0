import { describe, expect, it } from "vitest";
import { fallbackReason, modelsToTry } from "./fallback-choice.ts";

const chain = { chosen: "a", fallbacks: ["b", "c", "d"] };

describe("the models to try after a failure", () => {
  it.each([
    ["a", [], ["b", "c", "d"]],
    ["b", ["a"], ["c", "d"]],
    ["c", [], ["d", "b", "a"]],
    ["d", ["a", "c"], ["b"]],
    ["d", ["a", "b", "c"], []],
  ])("after %s, with %j tried, are %j", (failed, tried, expected) => {
    expect(modelsToTry({ ...chain, failed, tried: new Set(tried) })).toEqual(expected);
  });

  it("appear once each, and never include the failed model", () => {
    const fallbacks = ["a", "b", "b"];
    const models = { chosen: "a", fallbacks, failed: "a", tried: new Set<string>() };
    expect(modelsToTry(models)).toEqual(["b"]);
  });
});

describe("the reason for another model to answer", () => {
  it.each(["overloaded", "rate_limited", "network", "timeout"])("is always %s", (code) => {
    expect(fallbackReason(code, [])).toBe(code);
  });

  it.each(["quota", "auth"])("is %s if the settings allow it", (code) => {
    expect(fallbackReason(code, [])).toBe(undefined);
    expect(fallbackReason(code, [code])).toBe(code);
  });

  it.each(["invalid_request", "context_overflow", "content_filtered", "aborted", "toString"])(
    "is never %s",
    (code) => expect(fallbackReason(code, ["quota", "auth"])).toBe(undefined),
  );
});
