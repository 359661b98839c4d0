import { starMatcher } from "@tau-agent/system";

/** More globs than people write; globs beyond this limit are dropped, so they match nothing. */
const MAX_GLOBS = 500;

/** Globs that match exactly what both lists match; `*` is any text. A missing list matches everything. */
export function commonGlobs(
  one: string[] | undefined,
  other: string[] | undefined,
): string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const all = new Set(one.flatMap((a) => other.flatMap((b) => [...overlap(a, b, new Map())])));
  return withoutCovered([...all]).slice(0, MAX_GLOBS);
}

/** The globs for the intersection of two globs. */
function overlap(
  one: string,
  other: string,
  known: Map<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const key = `${one}\0${other}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const result = new Set(withoutCovered([...overlaps(one, other, known)]).slice(0, MAX_GLOBS));
  known.set(key, result);
  return result;
}

function* overlaps(
  one: string,
  other: string,
  known: Map<string, ReadonlySet<string>>,
): Generator<string> {
  if (one === "" && other === "") yield "";
  const [a, b] = [one[0], other[0]];
  if (a === "*" && b === "*") {
    for (const rest of overlap(one.slice(1), other, known)) yield beginning("*", rest);
    for (const rest of overlap(one, other.slice(1), known)) yield beginning("*", rest);
  } else if (a === "*") {
    yield* overlap(one.slice(1), other, known);
    if (b !== undefined)
      for (const rest of overlap(one, other.slice(1), known)) yield beginning(b, rest);
  } else if (b === "*") yield* overlaps(other, one, known);
  else if (a !== undefined && a === b) {
    for (const rest of overlap(one.slice(1), other.slice(1), known)) yield beginning(a, rest);
  }
}

function beginning(character: string, rest: string): string {
  return character === "*" && rest.startsWith("*") ? rest : character + rest;
}

/** Drops redundant globs: those that another one matches as plain text, including the stars. */
function withoutCovered(globs: readonly string[]): string[] {
  const matchers = globs.map(starMatcher);
  return globs.filter(
    (glob, at) =>
      !matchers.some((fits, other) => other !== at && fits(glob) && globs[other] !== glob),
  );
}
