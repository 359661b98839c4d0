import { subscribe } from "node:diagnostics_channel";
import type { Refusal } from "@tau-agent/ai/testing";
import { afterEach, beforeEach, expect, inject } from "vitest";
import { currentTest } from "../../../apps/cli/test/recording/record-host.ts";
import { takeNotedRefusals } from "../../../apps/cli/test/recording/recording.ts";

/**
 * Every test fails whose requests a loopback server refused, in its process or in one that it started:
 * what no vendor takes, Tau does not send. A test of the rules themselves says so with
 * {@link takeRefusals}. A refusal after the end of its test fails the run.
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
  const test = currentTest();
  const [file = ""] = test.split(" > ", 1);
  const elsewhere = [test, file].flatMap((name) => takeNotedRefusals(inject("recordings"), name));
  const all = [...refused.splice(0), ...elsewhere.map(({ refusal }) => refusal)];
  expect(all, "requests that a vendor would refuse").toEqual([]);
});
