import { describe, expect, it } from "vitest";
import { seed, sliceSize } from "../../../scripts/testing/slice.ts";
import { runChaos } from "./chaos/run-chaos.ts";

/**
 * The number of broken replies, and the seed of the first. To repeat the one that a failure names, run with
 * `TAU_CHAOS_SEED=1234 TAU_CHAOS_STREAMS=1`.
 */
const count = Number(process.env.TAU_CHAOS_STREAMS ?? sliceSize(120, 2_000));
const firstSeed = Number(process.env.TAU_CHAOS_SEED ?? sliceSize(seed, 0));
const atOnce = 16;

describe("broken replies", () => {
  it(`end once and leave a history that every vendor accepts (${count} seeds from ${firstSeed})`, async () => {
    const faults: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) faults.push(...(await runChaos(firstSeed + next++)));
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(faults).toEqual([]);
  }, 600_000);
});
