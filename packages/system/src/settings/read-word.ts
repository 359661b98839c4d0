interface WordProblem {
  readonly field: string;
  readonly reason: string;
}

/** One of the given words; undefined if it is absent, or if it is another word, which is reported. */
export function readWord<const Word extends string>(
  field: string,
  value: unknown,
  words: readonly Word[],
  problems: { push(problem: WordProblem): unknown },
): Word | undefined {
  const known = words.find((word) => word === value);
  if (known === undefined && value !== undefined && value !== null) {
    const wanted = words.map((word) => `"${word}"`).join(", ");
    problems.push({ field, reason: `expected one of ${wanted}, got ${JSON.stringify(value)}` });
  }
  return known;
}
