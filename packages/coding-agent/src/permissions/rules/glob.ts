/** Whether a whole text fits a pattern. */
export type Matcher = (text: string) => boolean;

/** One place of a pattern: a code unit that must be there, or what else may be. */
type Place = number;

/** One character: any, or any but a slash. */
const ONE = -1;
const ONE_OF_NAME = -2;
/** Any text without a slash. */
const NAME = -3;
/** Any text. */
const TEXT = -4;
/** Nothing, or any text that ends with a slash. */
const FOLDERS = -5;

const SLASH = 0x2f;
const SPACE = 0x20;

/** Matches names of tools: `*` is any text, `?` one character, `\` escapes. */
export function nameMatcher(pattern: string): Matcher {
  return matcher(placesOf(pattern, (rest) => wildcard(rest, ONE, TEXT)));
}

/**
 * Matches commands: `*` is any text and a final ` *` also none; `\` escapes. Nothing else has a
 * meaning.
 */
export function commandMatcher(pattern: string): Matcher {
  const places = placesOf(pattern, (rest) =>
    rest.startsWith("*") ? { length: 1, place: TEXT } : undefined,
  );
  return matcher(places, endsWith(places, SPACE) ? places.length - 2 : undefined);
}

/**
 * Matches paths below a folder: `**` is any text, `**` and a slash also nothing, `*` and `?` stop at
 * a slash, `\` escapes. A final slash and `**` also fit the folder itself.
 *
 * @param base - a folder, ending in a slash, that is not part of the pattern
 */
export function pathMatcher(base: string, pattern: string): Matcher {
  const places = [...unitsOf(base), ...placesOf(pattern, pathWildcard)];
  const isFolder = (pattern === "**" || pattern.endsWith("/**")) && endsWith(places, SLASH);
  return matcher(places, isFolder ? places.length - 2 : undefined);
}

/** Escapes a text so that it fits only itself. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?]/g, "\\$&");
}

/** The same for commands, where a question mark is itself. */
export function escapeCommand(text: string): string {
  return text.replace(/[\\*]/g, "\\$&");
}

type Wildcard = { readonly length: number; readonly place: Place } | undefined;

function wildcard(rest: string, one: Place, many: Place): Wildcard {
  if (rest.startsWith("*")) return { length: 1, place: many };
  return rest.startsWith("?") ? { length: 1, place: one } : undefined;
}

function pathWildcard(rest: string, before: string): Wildcard {
  const isSegment = before === "" || before === "/";
  if (isSegment && rest.startsWith("**/")) return { length: 3, place: FOLDERS };
  if (rest.startsWith("**")) return { length: 2, place: TEXT };
  return wildcard(rest, ONE_OF_NAME, NAME);
}

function placesOf(
  pattern: string,
  wildcardAt: (rest: string, before: string) => Wildcard,
): readonly Place[] {
  const places: Place[] = [];
  for (let at = 0; at < pattern.length; ) {
    const special = wildcardAt(pattern.slice(at, at + 3), pattern.slice(at - 1, at));
    if (special !== undefined) {
      places.push(special.place);
      at += special.length;
      continue;
    }
    const isEscape = pattern[at] === "\\" && at + 1 < pattern.length;
    places.push(pattern.charCodeAt(isEscape ? at + 1 : at));
    at += isEscape ? 2 : 1;
  }
  return places;
}

function unitsOf(text: string): number[] {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

function endsWith(places: readonly Place[], unit: number): boolean {
  return places.at(-1) === TEXT && places.at(-2) === unit;
}

/** @param shorter - how many places fit, too, without those after them. */
function matcher(places: readonly Place[], shorter?: number): Matcher {
  const wild = places.findIndex((place) => place < 0);
  const literal = wild === -1 ? places.length : wild;
  const start = String.fromCharCode(...places.slice(0, Math.min(literal, 1024)));
  return (text) => {
    if (text.startsWith(start) && isMatch(text, places, places.length)) return true;
    return shorter !== undefined && isMatch(text, places, shorter);
  };
}

/**
 * Takes as little as possible for each wildcard and gives the last one more when the rest does not fit: an
 * earlier one need not be tried again, because the later one can take what it would leave. So no pattern
 * makes it slow; rules come from projects that nobody trusts.
 */
function isMatch(text: string, places: readonly Place[], end: number): boolean {
  let at = 0;
  let place = 0;
  let name = { place: -1, at: 0 };
  let deep = { place: -1, at: 0 };
  for (;;) {
    if (place === end && at === text.length) return true;
    const wanted = place < end ? (places[place] as Place) : undefined;
    if (wanted === NAME) {
      name = { place, at };
      place += 1;
      continue;
    }
    if (wanted === TEXT || wanted === FOLDERS) {
      deep = { place, at };
      name = { place: -1, at: 0 };
      place += 1;
      continue;
    }
    const width = wanted === undefined ? 0 : widthAt(text, at, wanted);
    if (width > 0) {
      at += width;
      place += 1;
      continue;
    }
    if (name.place >= 0 && name.at < text.length && text.charCodeAt(name.at) !== SLASH) {
      name.at += 1;
      at = name.at;
      place = name.place + 1;
      continue;
    }
    name.place = -1;
    if (deep.place < 0) return false;
    const next = places[deep.place] === TEXT ? deep.at + 1 : text.indexOf("/", deep.at) + 1;
    if (next === 0 || next > text.length) return false;
    deep.at = next;
    at = next;
    place = deep.place + 1;
  }
}

/** How many code units of the text a place takes; 0 when it does not fit. */
function widthAt(text: string, at: number, place: Place): number {
  if (at >= text.length) return 0;
  const unit = text.charCodeAt(at);
  if (place >= 0) return unit === place ? 1 : 0;
  if (place === ONE_OF_NAME && unit === SLASH) return 0;
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
