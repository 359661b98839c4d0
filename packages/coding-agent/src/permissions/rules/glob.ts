/** One place of a pattern: how it goes on with the next character, or without one. */
interface State {
  /** Characters that lead to the next place. */
  readonly step?: (character: string) => boolean;
  /** Characters that stay at this place. */
  readonly loop?: (character: string) => boolean;
  /** How many places further the pattern may go on without a character. */
  readonly skips?: readonly number[];
}

/** Whether a whole text fits a pattern. */
export type Matcher = (text: string) => boolean;

const any = (): boolean => true;
const inName = (character: string): boolean => character !== "/";
const isSlash = (character: string): boolean => character === "/";
const exactly =
  (wanted: string) =>
  (character: string): boolean =>
    character === wanted;
const literal = (text: string): State[] => [...text].map((each) => ({ step: exactly(each) }));

/** Matches names of tools: `*` is any text, `?` one character, `\` escapes. */
export function nameMatcher(pattern: string): Matcher {
  return matcher(states(pattern, (rest) => wildcard(rest, any)));
}

/**
 * Matches commands: `*` is any text and a final ` *` also none; `\` escapes. Nothing else has a
 * meaning.
 */
export function commandMatcher(pattern: string): Matcher {
  const found = states(pattern, (rest) =>
    rest.startsWith("*") ? { length: 1, states: [{ loop: any, skips: [1] }] } : undefined,
  );
  const space = found.at(-2);
  const isOptional = found.at(-1)?.loop !== undefined && space?.step?.(" ") === true;
  if (!isOptional || space === undefined) return matcher(found);
  return matcher([...found.slice(0, -2), { ...space, skips: [2] }, ...found.slice(-1)]);
}

/**
 * Matches paths below a folder: `**` is any text, `**` and a slash also nothing, `*` and `?` stop at
 * a slash, `\` escapes. A final slash and `**` also fit the folder itself.
 *
 * @param base - a folder, ending in a slash, that is not part of the pattern
 */
export function pathMatcher(base: string, pattern: string): Matcher {
  const found = [...literal(base), ...states(pattern, pathWildcard)];
  const slash = found.at(-2);
  const isFolder = (pattern === "**" || pattern.endsWith("/**")) && slash?.step !== undefined;
  if (!isFolder || slash === undefined) return matcher(found);
  return matcher([...found.slice(0, -2), { ...slash, skips: [2] }, ...found.slice(-1)]);
}

/** Escapes a text so that it fits only itself. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?]/g, "\\$&");
}

/** The same for commands, where a question mark is itself. */
export function escapeCommand(text: string): string {
  return text.replace(/[\\*]/g, "\\$&");
}

type Wildcard = { readonly length: number; readonly states: readonly State[] } | undefined;

function wildcard(rest: string, fits: (character: string) => boolean): Wildcard {
  if (rest.startsWith("*")) return { length: 1, states: [{ loop: fits, skips: [1] }] };
  return rest.startsWith("?") ? { length: 1, states: [{ step: fits }] } : undefined;
}

function pathWildcard(rest: string, before: string): Wildcard {
  const isSegment = before === "" || before === "/";
  if (isSegment && rest.startsWith("**/")) {
    return { length: 3, states: [{ skips: [1, 2] }, { loop: any, step: isSlash }] };
  }
  if (rest.startsWith("**")) return { length: 2, states: [{ loop: any, skips: [1] }] };
  return wildcard(rest, inName);
}

function states(
  pattern: string,
  wildcardAt: (rest: string, before: string) => Wildcard,
): readonly State[] {
  const found: State[] = [];
  for (let at = 0; at < pattern.length; ) {
    const special = wildcardAt(pattern.slice(at, at + 3), pattern.slice(at - 1, at));
    if (special !== undefined) {
      found.push(...special.states);
      at += special.length;
      continue;
    }
    const isEscape = pattern[at] === "\\" && at + 1 < pattern.length;
    const character = String.fromCodePoint(pattern.codePointAt(isEscape ? at + 1 : at) ?? 0);
    found.push({ step: exactly(character) });
    at += character.length + (isEscape ? 1 : 0);
  }
  return found;
}

/** All places at once, so that no pattern makes it slow. */
function matcher(places: readonly State[]): Matcher {
  const spread = (reached: Set<number>): Set<number> => {
    // A set yields what is added while it is walked.
    for (const at of reached) {
      for (const skip of places[at]?.skips ?? []) reached.add(at + skip);
    }
    return reached;
  };
  return (text) => {
    let reached = spread(new Set([0]));
    for (const character of text) {
      const next = new Set<number>();
      for (const at of reached) {
        const place = places[at];
        if (place?.loop?.(character)) next.add(at);
        if (place?.step?.(character)) next.add(at + 1);
      }
      if (next.size === 0) return false;
      reached = spread(next);
    }
    return reached.has(places.length);
  };
}
