import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { slice } from "../../../../scripts/testing/slice.ts";
import { type Escape, escapeId, escapes } from "./__fixtures__/escapes.ts";
import { bubblewrapIsMissing } from "./__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "./__fixtures__/sandboxed-place.ts";

async function attempt(way: Escape, isSandboxed: boolean): Promise<boolean> {
  await using place = new SandboxedPlace();
  const id = escapeId();
  const end = await way.prepare?.(place, id);
  if (isSandboxed) await place.enter(way.policy?.(place));
  try {
    let output = "";
    for (const line of way.lines(place, id)) output += (await place.run(line)).output;
    return await way.worked(place, output, id);
  } finally {
    end?.();
  }
}

it("tries at least sixty ways out of the sandbox", () => {
  expect(Object.keys(escapes).length).toBeGreaterThanOrEqual(60);
});

describeWith(bubblewrapIsMissing)("the sandbox", () => {
  it.each(slice(Object.entries(escapes), 35))("holds against %s", async (_, way) => {
    expect(await attempt(way, false), "works without the sandbox").toBe(true);
    expect(await attempt(way, true), "works in the sandbox").toBe(false);
  });
});
