import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePattern, type RulePattern } from "../resources/rules/rule-pattern.ts";
import { TextBlockWatch } from "./block-watch.ts";
import { MatchThread } from "./match-thread.ts";

function patternOf(written: string): RulePattern {
  const pattern = parsePattern(written);
  if ("problem" in pattern) throw new TypeError(pattern.problem);
  return pattern;
}

const thread = new MatchThread();
const run = new AbortController().signal;

function split(pattern: RulePattern) {
  const number = [thread.numberOf(pattern)];
  return pattern.isLineBound ? { onLine: number, anywhere: [] } : { onLine: [], anywhere: number };
}

/** The index of the piece after which the pattern was found; -1 if never. */
async function foundAt(pattern: RulePattern, pieces: readonly string[]): Promise<number> {
  const watch = new TextBlockWatch(split(pattern));
  for (const [index, piece] of pieces.entries()) {
    const probes = watch.push(piece);
    if (probes.length === 0) continue;
    const { matched } = await thread.search(probes, run);
    if (matched.length > 0) return index;
  }
  return -1;
}

/** The expected index, from a search of the whole text after each piece. */
function expectedAt({ source, flags }: RulePattern, pieces: readonly string[]): number {
  const whole = pieces.map((piece, index) => [piece, pieces.slice(0, index + 1).join("")] as const);
  return whole.findIndex(([piece, text]) => piece !== "" && new RegExp(source, flags).test(text));
}

describe("a search in a growing text", () => {
  const patterns = [
    "ab",
    "^ab",
    "(?m)^b$",
    "a\\s+b",
    "a[^b]c",
    "(?i)A.B",
    "(?<=c)a",
    "\\bab\\b",
    "a(?!b)c",
    "(?s)a.b",
    "(a|b)\\1c",
    "b$",
  ].map(patternOf);

  it("finds a pattern as soon as it matches the text so far, however the text was split", async () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom(..."abc \n"), maxLength: 6 }), {
      maxLength: 12,
    });
    const property = fc.asyncProperty(
      fc.constantFrom(...patterns),
      pieces,
      async (pattern, cut) => {
        expect(await foundAt(pattern, cut)).toBe(expectedAt(pattern, cut));
      },
    );
    await fc.assert(property, { numRuns: 500 });
  });

  it("is equally exact late in a long text, within its window", async () => {
    const filler = fc.nat({ max: 30_000 }).map((length) => "c \n".repeat(length / 3));
    const end = fc.array(fc.string({ unit: fc.constantFrom(..."abc \n"), maxLength: 40 }), {
      minLength: 1,
      maxLength: 4,
    });
    const chunks = fc.integer({ min: 500, max: 20_000 });
    const property = fc.asyncProperty(
      fc.constantFrom(...patterns),
      filler,
      chunks,
      end,
      async (pattern, before, size, after) => {
        const start = before.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        const pieces = [...start, ...after];
        expect(await foundAt(pattern, pieces)).toBe(expectedAt(pattern, pieces));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it.each(["console\\.log", "as\\s+any"])(
    "costs no more per delta in a long reply than in a short one: %s",
    (written) => {
      const watch = new TextBlockWatch(split(patternOf(written)));
      let searched = 0;
      for (let count = 0; count < 5000; count++) {
        for (const { text } of watch.push("twenty characters!!!")) searched += text.length;
      }
      expect(searched / 5000).toBeLessThan(5000);
    },
  );
});

describe("a pattern whose search never ends", () => {
  const text = "x".repeat(60);

  it("is given up for good, while the others are still searched for", async () => {
    const own = new MatchThread();
    const [absent = 0, endless = 0, present = 0] = ["nothing", "(x+x+)+y", "xx"].map((written) =>
      own.numberOf(patternOf(written)),
    );
    const search = (...patterns: number[]) => own.search([{ text, start: 0, patterns }], run);
    expect(await search(absent, endless, present)).toEqual({
      matched: [],
      hopeless: [endless],
      slow: [],
    });
    const began = performance.now();
    expect((await search(endless, present)).hopeless).toEqual([endless]);
    expect(await search(absent, present)).toMatchObject({ matched: [present], hopeless: [] });
    expect(performance.now() - began).toBeLessThan(900);
  });

  it("delays many searches no longer than one", async () => {
    const own = new MatchThread();
    const probe = { text, start: 0, patterns: [own.numberOf(patternOf("(x+x+)+y"))] };
    const began = performance.now();
    const results = await Promise.all(Array.from({ length: 8 }, () => own.search([probe], run)));
    expect(results.map(({ hopeless }) => hopeless)).toEqual(Array(8).fill(probe.patterns));
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it("stops waiting when the run ends", async () => {
    const own = new MatchThread();
    const probe = { text, start: 0, patterns: [own.numberOf(patternOf("(x+x+)+y"))] };
    const abort = new AbortController();
    const began = performance.now();
    setTimeout(() => abort.abort(), 30);
    expect(await own.search([probe], abort.signal)).toEqual({
      matched: [],
      hopeless: [],
      slow: [],
    });
    expect(performance.now() - began).toBeLessThan(400);
    expect((await own.search([probe], AbortSignal.abort())).matched).toEqual([]);
  });
});

it("handles many searches at once, each with its own answer", async () => {
  const words = Array.from({ length: 100 }, (_, index) => `word${index}.`);
  const results = await Promise.all(
    words.map((word, index) => {
      const numbers = [`${word.slice(0, -1)}\\.`, "absent"].map((written) =>
        thread.numberOf(patternOf(written)),
      );
      const text = index % 2 === 0 ? word : "else";
      return thread.search([{ text, start: 0, patterns: numbers }], run);
    }),
  );
  expect(results.map(({ matched }) => matched.length)).toEqual(words.map((_, i) => (i + 1) % 2));
});
