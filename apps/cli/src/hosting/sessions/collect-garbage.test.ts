import { expect, it } from "vitest";
import { garbageCollection } from "./collect-garbage.ts";

it("collects what sessions have left once the last one is closed", async () => {
  let gone = () => {};
  const registry = new FinalizationRegistry(() => gone());
  const isGone = new Promise<void>((resolve) => {
    gone = resolve;
  });
  // Of an object that nothing else holds.
  registry.register({}, undefined);
  let asked = 0;
  garbageCollection()(() => {
    asked += 1;
    return true;
  });
  await isGone;
  expect(asked).toBe(1);
});
