import { nearest } from "@tau-agent/rpc-protocol/plain";

/** Pairs of adjacent letters and digits of a name, for comparing names. */
function pairs(name: string): Set<string> {
  const letters = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const found = new Set<string>();
  for (let at = 0; at + 1 < letters.length; at += 1) found.add(letters.slice(at, at + 2));
  return found;
}

/** The names most similar to `wanted`, best first; empty if none is similar. */
export function nearMatches(wanted: string, names: readonly string[], limit = 3): string[] {
  const target = pairs(wanted);
  const rated: { name: string; likeness: number }[] = [];
  for (const name of names) {
    const own = pairs(name);
    let shared = 0;
    for (const pair of own) if (target.has(pair)) shared += 1;
    const likeness = (2 * shared) / (own.size + target.size);
    if (likeness >= 0.4) rated.push({ name, likeness });
  }
  // A letter too many or too few is a likelier mistake than another name with much in common.
  const slip = nearest(wanted, names);
  rated.sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1));
  const found = rated.map(({ name }) => name).filter((name) => name !== slip);
  return [...(slip === undefined ? [] : [slip]), ...found].slice(0, limit);
}

/**
 * Corrects typing errors in a part of a name, word by word; undefined if there are none, or they cannot be corrected.
 */
export function correctedName(wanted: string, names: readonly string[]): string | undefined {
  const known = new Set(names.flatMap((name) => name.toLowerCase().split(/[-/:]/)));
  const corrected = wanted.toLowerCase().replace(/[^-/:]+/g, (word) => {
    return known.has(word) || /^[\d.]+$/.test(word) ? word : (nearest(word, known) ?? word);
  });
  return corrected === wanted.toLowerCase() ? undefined : corrected;
}
