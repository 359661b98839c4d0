import { expect, it } from "vitest";
import { garbageCollection, type RestState } from "./collect-garbage.ts";

const registry = new FinalizationRegistry((onGone: () => void) => onGone());

/** Fulfilled once V8 has collected an object that nothing else holds. */
function collected(): Promise<void> {
  return new Promise((resolve) => registry.register({}, resolve));
}

it("collects what sessions have left once none of them works", async () => {
  const isGone = collected();
  let asked = 0;
  garbageCollection()(() => {
    asked += 1;
    return "empty";
  });
  await isGone;
  expect(asked).toBe(1);
});

it("asks again when another session comes to rest, and not for the one before", async () => {
  const isGone = collected();
  const onRest = garbageCollection();
  const asked: string[] = [];
  const ask = (name: string, state: RestState) => () => {
    asked.push(name);
    return state;
  };
  onRest(ask("first", "empty"));
  await new Promise<void>((resolve) => {
    onRest(() => {
      resolve();
      return ask("second", "working")();
    });
  });
  onRest(ask("third", "idle"));
  await isGone;
  expect(asked).toEqual(["second", "third"]);
});
