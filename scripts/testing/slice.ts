import { randomInt } from "node:crypto";

const { env } = process;
// All processes of one run share the seed.
env.TAU_SEED ??= String(randomInt(1_000_000));

/** Whether long suites run completely: `npx -y pnpm@12 test:long` sets it. */
export const runsWhole = env.TAU_LONG === "1";

/** The reason to skip a test that is only meaningful for a complete suite or takes long; for `describeWith`. */
export const partOnly = runsWhole
  ? undefined
  : "only a part of the long suites ran; npx -y pnpm@12 test:long runs them";

/** The seed that selects the part of the long suites for this run: `TAU_SEED`, or a random one. */
export const seed = Number(env.TAU_SEED);

/**
 * The part of a long suite that a run takes: all cases in `test:long`, otherwise `count` cases selected by
 * the seed, in order. Over several runs, every case has its turn; a failure is repeated with the seed printed
 * at the end of the run.
 */
export function slice<Case>(cases: readonly Case[], count: number): Case[] {
  if (runsWhole || count >= cases.length) return [...cases];
  const random = randomFrom(seed);
  const chosen = cases
    .map((_, index) => ({ index, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, count);
  const indexes = new Set(chosen.map(({ index }) => index));
  return cases.filter((_, index) => indexes.has(index));
}

/** The number of cases of a generated suite to run: `whole` in `test:long`, otherwise `part`. */
export function sliceSize(part: number, whole: number): number {
  return runsWhole ? whole : part;
}

/** Pseudorandom numbers from 0 to 1 that depend only on the seed (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
