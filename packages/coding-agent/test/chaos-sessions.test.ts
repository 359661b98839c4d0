import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seed, sliceSize } from "../../../scripts/testing/slice.ts";
import { takeRewrites } from "../../ai/test/stable-prefix.ts";
import { temporaryFolder } from "../src/create/__fixtures__/test-session.ts";
import { runChaosSession } from "./chaos/run-session.ts";

/**
 * Sessions are run until this many replies were sent. `TAU_CHAOS_SEED=1234 TAU_CHAOS_REPLIES=1`
 * repeats the session that a failure names.
 */
const count = Number(process.env.TAU_CHAOS_REPLIES ?? sliceSize(100, 10_000));
const firstSeed = Number(process.env.TAU_CHAOS_SEED ?? sliceSize(seed, 0));
const atOnce = 8;

describe("sessions with broken replies", () => {
  it(`answer each prompt once and reopen unchanged (${count} replies, seeds from ${firstSeed})`, async () => {
    const folder = temporaryFolder();
    const faults: string[] = [];
    let next = firstSeed;
    let streams = 0;
    const work = async (): Promise<void> => {
      while (streams < count) {
        const own = join(folder, String(next));
        mkdirSync(own);
        const outcome = await runChaosSession(next++, own);
        streams += outcome.streams;
        faults.push(...outcome.faults);
      }
    };
    await Promise.all(Array.from({ length: Math.min(count, atOnce) }, work));
    expect(faults).toEqual([]);
    // The sessions changed models and tools at random, so rewrites are expected.
    takeRewrites();
  }, 600_000);
});
