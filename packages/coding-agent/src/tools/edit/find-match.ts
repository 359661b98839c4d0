import { setImmediate } from "node:timers/promises";
import { IndentMap, indentOf } from "./indentation.ts";
import { type Looseness, type LooseText, loosen } from "./loose-text.ts";
import { areMany, eachOccurrence } from "./many-texts.ts";
import { type Spelling, spellings } from "./spellings.ts";

/** A range in a text, and how the wanted text was interpreted to match there. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly spelling: Spelling;
  /** Undefined for an exact match. */
  readonly looseness?: Looseness;
}

/** The match if there is exactly one, and the number of matches. */
export interface Found {
  readonly count: number;
  readonly match?: Match;
}

type Place = Pick<Match, "start" | "end">;

/** From this length on, the event loop gets a turn between two passes, so that commands of clients are answered. */
const longContent = 1_000_000;
const ladder: readonly Looseness[] = ["typography", "blanks", "quotes"];

/**
 * Searches a content for texts: first as they are, then with increasing looseness, and finally as
 * if the model had escaped them wrongly. The first way that finds anything wins.
 */
export class MatchFinder {
  readonly #content: string;
  readonly #loose = new Map<Looseness, LooseText>();

  constructor(content: string) {
    this.#content = content;
  }

  /** The match of each text; for a text that occurs several times, only that it does. */
  async findAll(wanted: readonly string[]): Promise<Found[]> {
    const results = new Map<number, Found>();
    for (const spelling of spellings) {
      const open = wanted.flatMap((text, index) =>
        results.has(index) || !spelling.fits(text) ? [] : [{ index, text: spelling.convert(text) }],
      );
      for (const looseness of [undefined, ...ladder]) {
        const left = open.filter(({ index }) => !results.has(index));
        if (left.length === 0) break;
        if (looseness !== undefined && this.#content.length > longContent) await setImmediate();
        const hits = this.#look(
          left.map(({ text }) => text),
          looseness,
        );
        for (const [position, { index }] of left.entries()) {
          const hit = hits[position];
          if (hit === undefined || hit.count === 0) continue;
          results.set(index, found(hit, { spelling, ...(looseness && { looseness }) }));
        }
      }
    }
    return wanted.map((_, index) => results.get(index) ?? { count: 0 });
  }

  #look(texts: readonly string[], looseness: Looseness | undefined): Hits[] {
    if (looseness === undefined) {
      return allPositions(this.#content, texts, (index, start) => {
        return { start, end: start + (texts[index] ?? "").length };
      });
    }
    let content = this.#loose.get(looseness);
    if (content === undefined) {
      content = loosen(this.#content, looseness);
      this.#loose.set(looseness, content);
    }
    const { starts, ends } = content;
    const loose = texts.map((text) => {
      const { text: read } = loosen(text, looseness);
      // Spaces alone would match everywhere.
      return read.trim() === "" ? "" : read;
    });
    return allPositions(content.text, loose, (index, start) => {
      const end = start + (loose[index] ?? "").length;
      // Half of a character (the i of a ligature) does not match.
      if (starts[start] === starts[start - 1] || ends[end - 1] === ends[end]) return undefined;
      const place = { start: starts[start] ?? 0, end: ends[end - 1] ?? 0 };
      return looseness === "typography" ? place : this.#withIndentation(place, texts[index] ?? "");
    });
  }

  /** Extends a match over the indentation of the wanted text; undefined if the blocks differ. */
  #withIndentation({ start, end }: Place, wanted: string): Place | undefined {
    const content = this.#content;
    if (/^[ \t]+\S/.test(wanted)) {
      const lineStart = blankLineStart(content, start);
      if (lineStart === undefined) return undefined;
      start = lineStart;
    }
    if (/\n[ \t]+$/.test(wanted)) end += indentOf(content.slice(end, end + wanted.length)).length;
    return indentsOf(content, { start, end }, wanted).isConsistent ? { start, end } : undefined;
  }
}

/** How the lines of a match are indented, both in the wanted text and in the content. */
export function indentsOf(content: string, { start, end }: Place, wanted: string): IndentMap {
  const indents = new IndentMap();
  const lines = content.slice(start, end).split("\n");
  for (const [index, given] of wanted.split("\n").entries()) {
    const line = lines[index] ?? "";
    if (!indents.isConsistent) break;
    if (given.trim() === "") continue;
    if (index > 0 || /^[ \t]/.test(given)) {
      indents.note(indentOf(given), indentOf(line));
      continue;
    }
    // The first line may begin after its indentation, or in the middle of a line.
    const lineStart = blankLineStart(content, start);
    if (lineStart !== undefined) indents.note("", content.slice(lineStart, start));
  }
  return indents;
}

/** The start of the line if only spaces precede the position, however many there are. */
function blankLineStart(content: string, end: number): number | undefined {
  for (let at = end; at > 0; at--) {
    const before = content.charAt(at - 1);
    if (before === "\n") return at;
    if (before.trim() !== "") return undefined;
  }
  return 0;
}

interface Hits {
  readonly count: number;
  readonly first: Place | undefined;
}

function found({ count, first }: Hits, how: Pick<Match, "spelling" | "looseness">): Found {
  return count === 1 && first !== undefined ? { count, match: { ...first, ...how } } : { count };
}

/** The positions of texts; an empty text has none. */
function allPositions(
  content: string,
  texts: readonly string[],
  placeAt: (index: number, start: number) => Place | undefined,
): Hits[] {
  const hits = texts.map(
    (text, index) => new HitCount(text.length, (start) => placeAt(index, start)),
  );
  if (areMany(texts)) {
    eachOccurrence(content, texts, (index, start) => {
      const hit = hits[index];
      if (hit !== undefined && start >= hit.next) hit.add(start);
      return (hit?.count ?? 0) < 2;
    });
    return hits;
  }
  for (const [index, hit] of hits.entries()) {
    const text = texts[index] ?? "";
    if (text === "") continue;
    for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, hit.next)) {
      hit.add(at);
    }
  }
  return hits;
}

/**
 * The maximum number of overlapping candidates that fail the comparison; each comparison costs the length of the text.
 */
const maxMisses = 100;

/** Counts the occurrences of one text. */
class HitCount implements Hits {
  readonly #length: number;
  readonly #placeAt: (start: number) => Place | undefined;
  count = 0;
  first: Place | undefined;
  /** Where the next occurrence may begin. */
  next = 0;
  #misses = 0;

  constructor(length: number, placeAt: (start: number) => Place | undefined) {
    this.#length = length;
    this.#placeAt = placeAt;
  }

  add(start: number): void {
    const place = this.#placeAt(start);
    if (place === undefined) this.#misses++;
    else {
      this.first ??= place;
      this.count++;
    }
    // Only the second occurrence may overlap the first: one overlap already makes a match
    // ambiguous, and checking all overlaps would be quadratic.
    const mayOverlap = this.count < 2 && this.#misses < maxMisses;
    this.next = start + (mayOverlap ? 1 : this.#length);
  }
}
