/** What of a glob's notation counts. */
export interface GlobNotation {
  /** Whether `{a,b}` means either. Default true; .gitignore has no braces. */
  readonly hasBraces?: boolean;
  /** Whether `a/**` means `a`, too. Default true; not so in .gitignore. */
  readonly restMayBeEmpty?: boolean;
}

type Test = (character: string) => boolean;

type GlobNode =
  | { readonly kind: "one"; readonly accepts: Test; readonly literal?: string }
  | { readonly kind: "star" | "folders" | "rest" | "slashAndRest" }
  | { readonly kind: "choice"; readonly arms: readonly (readonly GlobNode[])[] };

/** One step of the automaton: it takes a character, or goes on to others without one. */
interface State {
  readonly accepts?: Test;
  readonly next: readonly number[];
}

const maxDepth = 32;
/** No path is longer; a longer pattern fits nothing. */
const maxLength = 4096;
const isName: Test = (character) => character !== "/";
const isSlash: Test = (character) => character === "/";

/**
 * A test for whole posix paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` between slashes, `\` before a
 * character that is meant as it is. Its time grows with the pattern times the path, whatever they
 * are: a regular expression takes hours for `*a*a*a*a*a*b`, and patterns come from models and from
 * repositories.
 */
export function globMatcher(
  pattern: string,
  { hasBraces = true, restMayBeEmpty = true }: GlobNotation = {},
): (path: string) => boolean {
  if (pattern.length > maxLength) return () => false;
  const nodes = new GlobReader(pattern, hasBraces).read();
  const literal = literalOf(nodes);
  if (literal.length === nodes.length) {
    const whole = literal.join("");
    return (path) => path === whole;
  }
  const suffix = literalOf(nodes.toReversed()).reverse().join("");
  const automaton = new Automaton(nodes, restMayBeEmpty);
  return (path) => path.endsWith(suffix) && automaton.accepts(path);
}

/** The characters that a list of nodes begins with. */
function literalOf(nodes: readonly GlobNode[]): string[] {
  const characters: string[] = [];
  for (const node of nodes) {
    if (node.kind !== "one" || node.literal === undefined) break;
    characters.push(node.literal);
  }
  return characters;
}

class GlobReader {
  readonly #characters: readonly string[];
  /** Places of the braces and commas that are part of a choice. */
  readonly #marks: ReadonlySet<number>;
  #at = 0;

  constructor(pattern: string, hasBraces: boolean) {
    this.#characters = [...pattern];
    this.#marks = hasBraces ? choiceMarks(this.#characters) : new Set();
  }

  read(): GlobNode[] {
    return this.#sequence();
  }

  /** Up to the end, or the next comma or closing brace of a choice. */
  #sequence(): GlobNode[] {
    const nodes: GlobNode[] = [];
    for (;;) {
      const character = this.#characters[this.#at];
      if (character === undefined) break;
      if (character !== "{" && this.#marks.has(this.#at)) break;
      this.#readOne(character, nodes);
    }
    return nodes;
  }

  #readOne(character: string, nodes: GlobNode[]): void {
    const following = this.#characters[this.#at + 1];
    if (character === "*") {
      this.#readStars(nodes);
      return;
    }
    const group = this.#group(character);
    if (group !== undefined) {
      nodes.push(group);
      return;
    }
    this.#at++;
    if (character === "\\" && following !== undefined) {
      this.#at++;
      nodes.push(one(following));
    } else if (character === "?") nodes.push({ kind: "one", accepts: isName });
    else nodes.push(one(character));
  }

  /** Between slashes, `**` is any number of folders. */
  #readStars(nodes: GlobNode[]): void {
    const from = this.#at;
    while (this.#characters[this.#at] === "*") this.#at++;
    const before = this.#characters[from - 1];
    const after = this.#characters[this.#at];
    const isAtStart = before === undefined || before === "/" || this.#marks.has(from - 1);
    const isAtEnd = after === undefined || this.#marks.has(this.#at);
    if (this.#at - from < 2 || !isAtStart || !(isAtEnd || after === "/")) {
      nodes.push({ kind: "star" });
    } else if (!isAtEnd) {
      this.#at++;
      nodes.push({ kind: "folders" });
    } else if (before === "/" && nodes.at(-1)?.kind === "one") {
      nodes.pop();
      nodes.push({ kind: "slashAndRest" });
    } else nodes.push({ kind: "rest" });
  }

  /** A class or a choice; an opening bracket of neither is a character like others. */
  #group(character: string): GlobNode | undefined {
    if (character === "[") return this.#class();
    if (character !== "{" || !this.#marks.has(this.#at)) return undefined;
    const arms: GlobNode[][] = [];
    do {
      this.#at++;
      arms.push(this.#sequence());
    } while (this.#characters[this.#at] === ",");
    this.#at++;
    return { kind: "choice", arms };
  }

  #class(): GlobNode | undefined {
    const isNegated = /[!^]/.test(this.#characters[this.#at + 1] ?? "");
    const from = this.#at + (isNegated ? 2 : 1);
    const end = this.#characters.indexOf("]", from + 1);
    if (end === -1) return undefined;
    const accepts = classTest(this.#characters.slice(from, end));
    this.#at = end + 1;
    return { kind: "one", accepts: (found) => found !== "/" && accepts(found) !== isNegated };
  }
}

/** Braces that are closed and have a comma; all others are characters like any. */
function choiceMarks(characters: readonly string[]): ReadonlySet<number> {
  const marks = new Set<number>();
  const open: number[][] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at];
    if (character === "\\") at++;
    else if (character === "{") open.push([at]);
    else if (character === ",") open.at(-1)?.push(at);
    else if (character === "}") {
      const group = open.pop();
      if (group === undefined || group.length === 1 || open.length >= maxDepth) continue;
      for (const mark of [...group, at]) marks.add(mark);
    }
  }
  return marks;
}

function one(literal: string): GlobNode {
  return { kind: "one", literal, accepts: (character) => character === literal };
}

function classTest(members: readonly string[]): Test {
  const single = new Set<string>();
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at++) {
    const [from = "", dash, to] = members.slice(at, at + 3);
    if (dash === "-" && to !== undefined) {
      ranges.push([from, to]);
      at += 2;
    } else single.add(from);
  }
  return (found) => single.has(found) || ranges.some(([from, to]) => from <= found && found <= to);
}

/** Where all ways through a pattern are after some characters. */
interface Place {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  /** Where each character leads that was met here. */
  readonly next: Map<string, Place>;
}

/** How many states of places are remembered: a pattern may have thousands of each. */
const maxRemembered = 100_000;

/**
 * All ways through a pattern at once. The steps are remembered, because a tree has thousands of
 * similar paths (row `find`).
 */
class Automaton {
  readonly #states: State[] = [];
  readonly #start: Place;
  readonly #end: number;
  /** By their states. */
  readonly #places = new Map<string, Place>();
  #remembered = 0;

  constructor(nodes: readonly GlobNode[], restMayBeEmpty: boolean) {
    this.#end = this.#add({ next: [] });
    const first = this.#build(nodes, this.#end, restMayBeEmpty);
    this.#start = this.#placeOf([first]);
  }

  accepts(text: string): boolean {
    let place = this.#start;
    for (const character of text) {
      place = place.next.get(character) ?? this.#step(place, character);
      if (place.states.length === 0) return false;
    }
    return place.isEnd;
  }

  #step(from: Place, character: string): Place {
    const next = from.states.flatMap((index) => {
      const state = this.#states[index];
      return state?.accepts?.(character) ? state.next : [];
    });
    const place = this.#placeOf(next);
    this.#remembered += place.states.length + 1;
    if (this.#remembered > maxRemembered) this.#forget();
    else from.next.set(character, place);
    return place;
  }

  #placeOf(from: readonly number[]): Place {
    const states = this.#closure(from);
    const key = states.join();
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = { states, isEnd: states.includes(this.#end), next: new Map() };
    this.#places.set(key, place);
    return place;
  }

  #forget(): void {
    this.#places.clear();
    this.#start.next.clear();
    this.#remembered = 0;
  }

  /** Every state that can be reached without a character, each once. */
  #closure(from: readonly number[]): number[] {
    const found = new Set(from);
    // Iterating a set includes members added meanwhile.
    for (const index of found) {
      const state = this.#states[index];
      if (state === undefined || state.accepts !== undefined) continue;
      for (const next of state.next) found.add(next);
    }
    return [...found].sort((left, right) => left - right);
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }

  /** The state from which the nodes lead to `end`. */
  #build(nodes: readonly GlobNode[], end: number, restMayBeEmpty: boolean): number {
    let next = end;
    for (const node of nodes.toReversed()) {
      if (node.kind === "choice") {
        const after = next;
        next = this.#add({ next: node.arms.map((arm) => this.#build(arm, after, restMayBeEmpty)) });
      } else if (node.kind === "one") next = this.#add({ accepts: node.accepts, next: [next] });
      else if (node.kind === "star") next = this.#loop(isName, next);
      else if (node.kind === "rest") next = this.#loop(() => true, next);
      else if (node.kind === "folders") next = this.#folders(next);
      else {
        const slash = this.#add({ accepts: isSlash, next: [this.#loop(() => true, next)] });
        next = restMayBeEmpty ? this.#add({ next: [slash, next] }) : slash;
      }
    }
    return next;
  }

  #loop(accepts: Test, next: number): number {
    const back: number[] = [next];
    const again = this.#add({ next: back });
    back.push(this.#add({ accepts, next: [again] }));
    return again;
  }

  /** Any number of names, each with its slash. */
  #folders(next: number): number {
    const back: number[] = [next];
    const again = this.#add({ next: back });
    const slash = this.#add({ accepts: isSlash, next: [again] });
    back.push(this.#loop(isName, slash));
    return again;
  }
}
