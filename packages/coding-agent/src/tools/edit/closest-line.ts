const maxLines = 20_000;
const maxLineLength = 400;
const minimumLikeness = 0.5;

/** The line most similar to the first non-empty line of `wanted`; undefined if no line is similar. */
export function closestLine(
  content: string,
  wanted: string,
): { readonly line: number; readonly text: string } | undefined {
  const first = wanted.split("\n").find((line) => line.trim() !== "");
  if (first === undefined) return undefined;
  const wantedPairs = pairsOf(first);
  let best = minimumLikeness;
  let found: { line: number; text: string } | undefined;
  for (const [index, text] of content.split("\n", maxLines).entries()) {
    const likeness = likenessOf(pairsOf(text), wantedPairs);
    if (likeness <= best) continue;
    best = likeness;
    found = { line: index + 1, text: text.slice(0, 200) };
  }
  return found;
}

/** The pairs of adjacent characters in a line, without spaces, with their counts. */
function pairsOf(line: string): Map<string, number> {
  const text = line.slice(0, maxLineLength).replace(/\s+/g, "");
  const pairs = new Map<string, number>();
  for (let index = 0; index < text.length; index++) {
    const pair = text.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** From 0 (nothing in common) to 1 (equal). */
function likenessOf(left: Map<string, number>, right: Map<string, number>): number {
  let common = 0;
  let total = 0;
  for (const [pair, count] of left) {
    common += Math.min(count, right.get(pair) ?? 0);
    total += count;
  }
  for (const count of right.values()) total += count;
  return total === 0 ? 0 : (2 * common) / total;
}
