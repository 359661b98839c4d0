import { subscribe } from "node:diagnostics_channel";
import type { Refusal } from "@tau-agent/ai/testing";
import { afterEach, beforeEach, expect, inject } from "vitest";
import { currentTest } from "../../../apps/cli/test/recording/record-host.ts";
import { takeNotedRefusals } from "../../../apps/cli/test/recording/recording.ts";

/**
 * Fails every test whose requests were refused by a loopback server, in its own process or in one that it
 * started: Tau must not send what no vendor accepts. A test of the rules themselves declares that with {@link
 * takeRefusals}. A refusal after the end of its test fails the run.
 */
const refused: Refusal[] = [];

subscribe("@tau-agent/ai/testing/refusal", (refusal) => {
  refused.push(refusal as Refusal);
});

/** Returns and clears the refusals of this test so far, which the test expected. */
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
