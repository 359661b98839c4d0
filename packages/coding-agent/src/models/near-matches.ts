/** Pairs of adjacent letters and digits of a name, for comparing names. */
function pairs(name: string): Set<string> {
  const letters = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const found = new Set<string>();
  for (let at = 0; at + 1 < letters.length; at += 1) found.add(letters.slice(at, at + 2));
  return found;
}

/** The names most similar to `wanted`, best first; empty if none is similar. */
export function nearMatches(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const target = pairs(wanted);
  const rated: { name: string; likeness: number }[] = [];
  for (const name of names) {
    const own = pairs(name);
    let shared = 0;
    for (const pair of own) if (target.has(pair)) shared += 1;
    const likeness = (2 * shared) / (own.size + target.size);
    if (likeness >= 0.4) rated.push({ name, likeness });
  }
  rated.sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1));
  return rated.slice(0, limit).map(({ name }) => name);
}
