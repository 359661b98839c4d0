import {
  anyOne,
  type GlobNode,
  type Matcher,
  matcherOf,
  one,
  oneOfName,
  slashAndRest,
} from "./glob-engine.ts";

/** Matches tool names: `*` is any text, `?` one character, `\` escapes. */
export function nameMatcher(pattern: string): Matcher {
  return matcherOf(nodesOf(pattern, (rest) => wildcard(rest, anyOne, { kind: "rest" })));
}

/** Matches tool names in a selection: `*` is any text; no other character is special. */
export function starMatcher(pattern: string): Matcher {
  const nodeOf = (character: string): GlobNode =>
    character === "*" ? { kind: "rest" } : one(character);
  return matcherOf(Array.from(pattern, nodeOf));
}

/** Matches commands: `*` is any text, and a final ` *` may be absent; `\` escapes. No other character is special. */
export function commandMatcher(pattern: string): Matcher {
  const nodes = nodesOf(pattern, (rest) =>
    rest.startsWith("*") ? { length: 1, node: { kind: "rest" } } : undefined,
  );
  return matcherOf(withShorter(nodes, " "));
}

/**
 * Matches paths below a folder: `**` is any text; `**` followed by a slash may be absent; `*` and
 * `?` stop at a slash; `\` escapes. A final slash and `**` also match the folder itself.
 *
 * @param base - the folder, with a final slash; it is not part of the pattern
 */
export function pathMatcher(base: string, pattern: string): Matcher {
  const nodes = [...Array.from(base, one), ...nodesOf(pattern, pathWildcard)];
  const isFolder = pattern === "**" || pattern.endsWith("/**");
  return matcherOf(isFolder ? withShorter(nodes, "/") : nodes);
}

/** Escapes a text so that it matches only itself. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?]/g, "\\$&");
}

export function escapeCommand(text: string): string {
  return text.replace(/[\\*]/g, "\\$&");
}

type Wildcard = { readonly length: number; readonly node: GlobNode } | undefined;

function wildcard(rest: string, any: GlobNode, many: GlobNode): Wildcard {
  if (rest.startsWith("*")) return { length: 1, node: many };
  return rest.startsWith("?") ? { length: 1, node: any } : undefined;
}

function pathWildcard(rest: string, before: string): Wildcard {
  const isSegment = before === "" || before === "/";
  if (isSegment && rest.startsWith("**/")) return { length: 3, node: { kind: "folders" } };
  if (rest.startsWith("**")) return { length: 2, node: { kind: "rest" } };
  return wildcard(rest, oneOfName, { kind: "star" });
}

function nodesOf(
  pattern: string,
  wildcardAt: (rest: string, before: string) => Wildcard,
): readonly GlobNode[] {
  const nodes: GlobNode[] = [];
  for (let at = 0; at < pattern.length; ) {
    const special = wildcardAt(pattern.slice(at, at + 3), pattern.slice(at - 1, at));
    if (special !== undefined) {
      nodes.push(special.node);
      at += special.length;
      continue;
    }
    if (pattern[at] === "\\" && at + 1 < pattern.length) at += 1;
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    nodes.push(one(character));
    at += character.length;
  }
  return nodes;
}

/** A pattern that ends with a separator and any text also matches without both. */
function withShorter(nodes: readonly GlobNode[], separator: string): readonly GlobNode[] {
  const [before, last] = nodes.slice(-2);
  const isSeparated = before?.kind === "one" && before.literal === separator;
  if (!isSeparated || last?.kind !== "rest") return nodes;
  return [...nodes.slice(0, -2), ...slashAndRest([before], true)];
}
