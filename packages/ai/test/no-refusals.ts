import { subscribe } from "node:diagnostics_channel";
import type { Refusal } from "@tau-agent/ai/testing";
import { afterEach, beforeEach, expect } from "vitest";

/**
 * Every test fails whose requests a loopback server of its process refused: what no vendor takes, Tau
 * does not send. A test of the rules themselves says so with {@link takeRefusals}.
 */
const refused: Refusal[] = [];

subscribe("@tau-agent/ai/testing/refusal", (refusal) => {
  refused.push(refusal as Refusal);
});

/** The refusals of this test so far, which it expected. */
export function takeRefusals(): Refusal[] {
  return refused.splice(0);
}

beforeEach(() => {
  refused.length = 0;
});

afterEach(() => {
  expect(refused.splice(0), "requests that a vendor would refuse").toEqual([]);
});
