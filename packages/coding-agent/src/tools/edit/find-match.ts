import { IndentMap, indentOf } from "./indentation.ts";
import { type Looseness, type LooseText, loosen } from "./loose-text.ts";
import { areMany, eachOccurrence } from "./many-texts.ts";
import { type Spelling, spellings } from "./spellings.ts";

/** A place in a text, and how the wanted text was read to be found there. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly spelling: Spelling;
  /** Undefined for a match of every character. */
  readonly looseness?: Looseness;
}

/** The place of a text if there is exactly one, and how many there are. */
export interface Found {
  readonly count: number;
  readonly match?: Match;
}

type Place = Pick<Match, "start" | "end">;

const ladder: readonly Looseness[] = ["typography", "blanks", "quotes"];

/**
 * Looks for texts in one content: as they are first, then ever more loosely, then as if the model
 * had escaped them wrongly. The first way that finds anything decides.
 */
export class MatchFinder {
  readonly #content: string;
  readonly #loose = new Map<Looseness, LooseText>();

  constructor(content: string) {
    this.#content = content;
  }

  /** Of each text the place; of one that is there several times only that it is. */
  findAll(wanted: readonly string[]): Found[] {
    const results = new Map<number, Found>();
    for (const spelling of spellings) {
      const open = wanted.flatMap((text, index) =>
        results.has(index) || !spelling.fits(text) ? [] : [{ index, text: spelling.convert(text) }],
      );
      for (const looseness of [undefined, ...ladder]) {
        const left = open.filter(({ index }) => !results.has(index));
        if (left.length === 0) break;
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
      // Blanks alone would be found everywhere.
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

  /** Takes in the indentation that the wanted text has; undefined when the blocks differ. */
  #withIndentation({ start, end }: Place, wanted: string): Place | undefined {
    const content = this.#content;
    if (/^[ \t]+\S/.test(wanted)) {
      const lineStart = content.lastIndexOf("\n", start - 1) + 1;
      if (content.slice(lineStart, start).trim() !== "") return undefined;
      start = lineStart;
    }
    if (/\n[ \t]+$/.test(wanted)) end += indentOf(content.slice(end, end + wanted.length)).length;
    return indentsOf(content, { start, end }, wanted).isConsistent ? { start, end } : undefined;
  }
}

/** How the lines of a match are indented, in the wanted text and in the content. */
export function indentsOf(content: string, { start, end }: Place, wanted: string): IndentMap {
  const indents = new IndentMap();
  const lines = content.slice(start, end).split("\n");
  for (const [index, given] of wanted.split("\n").entries()) {
    const line = lines[index] ?? "";
    if (given.trim() === "") continue;
    if (index > 0 || /^[ \t]/.test(given)) {
      indents.note(indentOf(given), indentOf(line));
      continue;
    }
    // The first line may begin after its indentation, or in the middle of a line.
    const before = content.slice(content.lastIndexOf("\n", start - 1) + 1, start);
    if (before.trim() === "") indents.note("", before);
  }
  return indents;
}

interface Hits {
  readonly count: number;
  readonly first: Place | undefined;
}

function found({ count, first }: Hits, how: Pick<Match, "spelling" | "looseness">): Found {
  return count === 1 && first !== undefined ? { count, match: { ...first, ...how } } : { count };
}

/** Where texts are; an empty one is nowhere. */
function allPositions(
  content: string,
  texts: readonly string[],
  placeAt: (index: number, start: number) => Place | undefined,
): Hits[] {
  if (!areMany(texts)) {
    return texts.map((text, index) => positions(content, text, (start) => placeAt(index, start)));
  }
  const hits: { count: number; first: Place | undefined }[] = texts.map(() => {
    return { count: 0, first: undefined };
  });
  eachOccurrence(content, texts, (index, start) => {
    const hit = hits[index];
    const place = placeAt(index, start);
    if (hit === undefined || place === undefined) return true;
    hit.first ??= place;
    hit.count++;
    return hit.count < 2;
  });
  return hits;
}

function positions(
  content: string,
  wanted: string,
  placeAt: (start: number) => Place | undefined,
): Hits {
  let count = 0;
  let first: Place | undefined;
  if (wanted === "") return { count, first };
  let from = 0;
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, from)) {
    from = at + 1;
    const place = placeAt(at);
    if (place === undefined) continue;
    first ??= place;
    count++;
    // Only the second may overlap the first: one overlap makes a match ambiguous, and to step
    // through all of them would be quadratic.
    if (count > 1) from = at + wanted.length;
  }
  return { count, first };
}
