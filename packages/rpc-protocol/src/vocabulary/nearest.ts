/** The maximum number of edits for a suggestion. */
const MAX_DISTANCE = 2;

/**
 * The name that was probably meant: at most two letters are changed, added, missing or swapped with the next one.
 *
 * @param minCommon - how many letters must match; with fewer, there is no suggestion
 */
export function nearest(word: string, names: Iterable<string>, minCommon = 0): string | undefined {
  let found: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    const shorter = Math.min(word.length, name.length);
    // If half of the letters differ, it is a different word.
    const most = Math.min(MAX_DISTANCE, Math.floor((shorter - 1) / 2), shorter - minCommon);
    // Among equally near names, prefers one with the same first letter, then one of the same length: people
    // get the first letter right, and swap letters more often than they drop one.
    const beginsElse = word[0]?.toLowerCase() === name[0]?.toLowerCase() ? 0 : 0.5;
    const rank = distance + beginsElse + Math.abs(word.length - name.length) / 10;
    if (distance <= most && rank < least) {
      found = name;
      least = rank;
    }
  }
  return found;
}

/** A suggestion to append to an error about an unknown name; empty if no name is near. */
export function nearestHint(word: string, names: Iterable<string>, prefix = ""): string {
  const name = nearest(word, names);
  return name === undefined ? "" : `; the nearest is ${prefix}${name}`;
}

/** The number of letters that must be changed, added, removed or swapped to turn one word into the other. */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MAX_DISTANCE) return MAX_DISTANCE + 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at += 1) {
    const next = [at + 1];
    for (let column = 0; column < other.length; column += 1) {
      const replaced = (row[column] ?? 0) + (one[at] === other[column] ? 0 : 1);
      const added = (row[column + 1] ?? 0) + 1;
      const left = (next[column] ?? 0) + 1;
      const isSwap = one[at] === other[column - 1] && one[at - 1] === other[column];
      const swapped = isSwap ? (before[column - 1] ?? 0) + 1 : added;
      next.push(Math.min(replaced, added, left, swapped));
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
