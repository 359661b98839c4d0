/** How well a text matches a query, whose letters must appear in order; lower is better. */
export function fuzzyMatch(query: string, text: string): { matches: boolean; score: number } {
  const wanted = query.toLowerCase();
  const given = text.toLowerCase();
  let at = -1;
  let score = 0;
  for (const letter of wanted) {
    const next = given.indexOf(letter, at + 1);
    if (next === -1) return { matches: false, score: 0 };
    score += next - at - 1;
    at = next;
  }
  return { matches: true, score };
}

/** The items that match every word of the query, best first. */
export function fuzzyFilter<Item>(
  items: readonly Item[],
  query: string,
  textOf: (item: Item) => string,
): Item[] {
  const words = query.trim().split(/\s+/).filter(Boolean);
  const rated = items.map((item) => {
    const results = words.map((word) => fuzzyMatch(word, textOf(item)));
    return {
      item,
      fits: results.every(({ matches }) => matches),
      score: results.reduce((sum, { score }) => sum + score, 0),
    };
  });
  return rated
    .filter(({ fits }) => fits)
    .sort((a, b) => a.score - b.score)
    .map(({ item }) => item);
}
