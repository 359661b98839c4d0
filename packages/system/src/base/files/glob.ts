type Token = "star" | { accepts: (character: string) => boolean };

function readClass(body: string): (character: string) => boolean {
  const isNegated = body.startsWith("!") || body.startsWith("^");
  const members = isNegated ? body.slice(1) : body;
  const single = new Set<string>();
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members.charAt(at);
    const to = members.charAt(at + 2);
    if (members.charAt(at + 1) === "-" && to !== "") {
      ranges.push([from, to]);
      at += 2;
    } else single.add(from);
  }
  return (character) =>
    (single.has(character) || ranges.some(([from, to]) => from <= character && character <= to)) !==
    isNegated;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const end = character === "[" ? pattern.indexOf("]", at + 2) : -1;
    if (character === "*") {
      if (tokens.at(-1) !== "star") tokens.push("star");
    } else if (character === "?") tokens.push({ accepts: () => true });
    else if (end !== -1) {
      tokens.push({ accepts: readClass(pattern.slice(at + 1, end)) });
      at = end;
    } else tokens.push({ accepts: (found) => found === character });
  }
  return tokens;
}

/**
 * A test for names against a glob: `*`, `?` and `[a-z]`, case ignored. A star crosses slashes, which
 * ids of aggregators contain. An unclosed bracket is a bracket. Takes time in proportion to pattern
 * times name, whatever the pattern.
 */
export function createGlob(pattern: string): (name: string) => boolean {
  const tokens = tokensOf(pattern.toLowerCase());
  return (name) => {
    const text = name.toLowerCase();
    let token = 0;
    let star = -1;
    let starAt = 0;
    for (let at = 0; at < text.length; ) {
      const current = tokens[token];
      if (current === "star") {
        star = token;
        starAt = at;
        token += 1;
      } else if (current?.accepts(text.charAt(at))) {
        token += 1;
        at += 1;
      } else if (star !== -1) {
        token = star + 1;
        starAt += 1;
        at = starAt;
      } else return false;
    }
    while (tokens[token] === "star") token += 1;
    return token === tokens.length;
  };
}
