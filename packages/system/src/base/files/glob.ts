import { anyOne, classTest, type GlobNode, type Matcher, matcherOf, one } from "./glob-engine.ts";

/** Reads the part of a pattern at a position, and returns where the next part begins. */
function readPart(pattern: string, at: number): { node: GlobNode; next: number } {
  const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  const next = at + character.length;
  if (character === "*") return { node: { kind: "rest" }, next };
  if (character === "?") return { node: anyOne, next };
  const end = character === "[" ? pattern.indexOf("]", at + 2) : -1;
  if (end === -1) return { node: one(character), next };
  const [first, ...others] = pattern.slice(next, end);
  const isNegated = first === "!" || first === "^";
  const has = classTest(isNegated ? others : [first ?? "", ...others]);
  return { node: { kind: "one", accepts: (found) => has(found) !== isNegated }, next: end + 1 };
}

/**
 * Matches names against a glob: `*`, `?` and `[a-z]`, ignoring case. A star also matches slashes,
 * which model ids of aggregators contain. An unclosed bracket is an ordinary character.
 */
export function createGlob(pattern: string): Matcher {
  const text = pattern.toLowerCase();
  const nodes: GlobNode[] = [];
  for (let at = 0; at < text.length; ) {
    const { node, next } = readPart(text, at);
    at = next;
    if (node.kind !== "rest" || nodes.at(-1)?.kind !== "rest") nodes.push(node);
  }
  const fits = matcherOf(nodes);
  return (name) => fits(name.toLowerCase());
}
