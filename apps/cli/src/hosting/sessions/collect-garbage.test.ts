import { expect, it } from "vitest";
import { garbageCollection } from "./collect-garbage.ts";

const registry = new FinalizationRegistry((onGone: () => void) => onGone());

/** Fulfilled once V8 has collected an object that nothing else holds. */
function collected(): Promise<void> {
  return new Promise((resolve) => registry.register({}, resolve));
}

it("collects what sessions have left once none of them works", async () => {
  const isGone = collected();
  let asked = 0;
  garbageCollection()(0, () => {
    asked += 1;
    return false;
  });
  await isGone;
  expect(asked).toBe(1);
});

it("collects once half of the sessions are closed", async () => {
  const isGone = collected();
  const onRest = garbageCollection();
  for (const open of [1, 2, 1]) onRest(open, () => false);
  await isGone;
});

it("asks again when another session comes to rest, and not for the one before", async () => {
  const isGone = collected();
  const onRest = garbageCollection();
  const asked: string[] = [];
  const ask = (name: string, isWorking: boolean) => () => {
    asked.push(name);
    return isWorking;
  };
  onRest(0, ask("first", false));
  await new Promise<void>((resolve) => {
    onRest(0, () => {
      resolve();
      return ask("second", true)();
    });
  });
  onRest(0, ask("third", false));
  await isGone;
  expect(asked).toEqual(["second", "third"]);
});
