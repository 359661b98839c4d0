import { describe, expect, it } from "vitest";
import { Slots } from "./slots.ts";

describe("slots", () => {
  it("limit the number of concurrent tasks, keep their order, and continue after a failure", async () => {
    const slots = new Slots(2);
    const started: number[] = [];
    let atOnce = 0;
    let most = 0;
    const work = (index: number) => async () => {
      started.push(index);
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 2));
      atOnce -= 1;
      if (index === 1) throw new RangeError("one fails");
      return index;
    };
    const done = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => slots.run(work(index))));
    expect(done.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      false,
      true,
      true,
      true,
    ]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
  });
});
