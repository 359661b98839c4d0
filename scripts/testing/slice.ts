import { randomInt } from "node:crypto";

const { env } = process;
// The processes of one run have the same.
env.TAU_SEED ??= String(randomInt(1_000_000));

/** Whether long suites run whole: `npx -y pnpm@12 test:long` sets it. */
export const runsWhole = env.TAU_LONG === "1";

/** Why a test that only says something of a whole suite, or takes long, does not run: for `describeWith`. */
export const partOnly = runsWhole
  ? undefined
  : "only a part of the long suites ran; npx -y pnpm@12 test:long runs them";

/** Which part of the long suites this run takes: `TAU_SEED`, otherwise one by chance. */
export const seed = Number(env.TAU_SEED);

/**
 * What a run takes of a long suite: all of it in `test:long`, otherwise `count` cases that the seed
 * chooses, in their order. Every case has its turn after some runs, and a failure is repeated with
 * the seed that the end of the run names.
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

/** How many cases of a generated suite run: `whole` in `test:long`, otherwise `part`. */
export function sliceSize(part: number, whole: number): number {
  return runsWhole ? whole : part;
}

/** Numbers from 0 to 1, the same for one seed (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
