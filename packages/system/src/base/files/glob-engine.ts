/** Whether a pattern matches the whole text. */
export type Matcher = (text: string) => boolean;

type Test = (character: string) => boolean;

/**
 * A part of a pattern: a character, text without a slash (`star`), nothing or folders with their slashes
 * (`folders`), any text (`rest`), or one of several sequences.
 */
export type GlobNode =
  | { readonly kind: "one"; readonly accepts: Test; readonly literal?: string }
  | { readonly kind: "star" | "folders" | "rest" }
  | { readonly kind: "choice"; readonly arms: readonly (readonly GlobNode[])[] };

export const anyOne = { kind: "one", accepts: () => true } satisfies GlobNode;
export const oneOfName = {
  kind: "one",
  accepts: (character: string) => character !== "/",
} satisfies GlobNode;

/** A separator followed by anything or, with `mayBeEmpty`, nothing at all. */
export function slashAndRest(slash: readonly GlobNode[], mayBeEmpty: boolean): GlobNode[] {
  const whole: GlobNode[] = [...slash, { kind: "rest" }];
  return mayBeEmpty ? [{ kind: "choice", arms: [whole, []] }] : whole;
}

export function one(literal: string): GlobNode {
  return { kind: "one", literal, accepts: (character) => character === literal };
}

/** The characters and ranges between brackets. */
export function classTest(members: readonly string[]): Test {
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

/**
 * The matcher for a pattern of any notation. Its time is at most proportional to the length of the pattern times that
 * of the text: a regular expression takes hours for `*a*a*a*a*a*b`, and patterns come from models and repositories.
 */
export function matcherOf(nodes: readonly GlobNode[]): Matcher {
  const [start = "", ...others] = literalsOf(nodes);
  const end = others.pop();
  if (end === undefined) return (text) => text === start;
  let automaton: Automaton | undefined;
  return (text) => {
    if (text.length < start.length + end.length) return false;
    if (!text.startsWith(start) || !text.endsWith(end)) return false;
    if (!holdsInOrder(text, others, start.length)) return false;
    automaton ??= new Automaton(nodes.slice(nodes.findIndex((node) => !isLiteral(node))));
    return automaton.accepts(text.slice(start.length));
  };
}

/** The texts before, between and after the nodes that are not literal. */
function literalsOf(nodes: readonly GlobNode[]): string[] {
  const literals = [""];
  for (const node of nodes) {
    if (isLiteral(node)) literals[literals.length - 1] += node.literal;
    else literals.push("");
  }
  return literals;
}

function isLiteral(node: GlobNode): node is GlobNode & { readonly literal: string } {
  return node.kind === "one" && node.literal !== undefined;
}

/** Most texts lack one of the literals, so most matches need no automaton. */
function holdsInOrder(text: string, literals: readonly string[], from: number): boolean {
  let at = from;
  for (const literal of literals) {
    const found = text.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return true;
}

/** A state of the automaton: it consumes a character, or moves on to other states without one. */
interface State {
  readonly accepts?: Test;
  readonly next: readonly number[];
}

const isSlash: Test = (character) => character === "/";

/** The set of states that the automaton may be in after some characters. */
interface Place {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  /** The places that the characters seen so far lead to. */
  readonly next: Map<string, Place>;
}

/** The most states to remember over all places: a pattern may have thousands of each. */
const maxRemembered = 100_000;

/**
 * Follows all ways through a pattern at once. Steps are remembered, because a tree has thousands of
 * similar paths (row `find`).
 */
class Automaton {
  readonly #states: State[] = [];
  readonly #start: Place;
  readonly #end: number;
  /** For each looping state, the last state that it makes redundant: see #buildWhole. */
  readonly #covers = new Map<number, number>();
  /** Keyed by their states. */
  readonly #places = new Map<string, Place>();
  #remembered = 0;

  constructor(nodes: readonly GlobNode[]) {
    this.#end = this.#add({ next: [] });
    const first = this.#buildWhole(nodes);
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
    const next: number[] = [];
    for (const index of from.states) {
      const state = this.#states[index];
      if (state?.accepts?.(character)) next.push(...state.next);
    }
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

  /** Every state that can be reached without consuming a character, once each. */
  #closure(from: readonly number[]): number[] {
    const found = new Set(from);
    // Iterating a set includes members added meanwhile.
    for (const index of found) {
      const state = this.#states[index];
      if (state === undefined || state.accepts !== undefined) continue;
      for (const next of state.next) found.add(next);
    }
    let star = 0;
    let last = 0;
    // A typed array of numbers is sorted without calls to a comparator.
    return Array.from(Uint32Array.from(found).sort()).filter((index) => {
      if (index > star + 1 && index <= last) return false;
      const covered = this.#covers.get(index);
      if (covered !== undefined) [star, last] = [index, covered];
      return true;
    });
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }

  /**
   * The first state of the whole pattern. Once a star is reached, the states before it are dropped: they can only
   * lead to the same star later, and the star consumes the text up to there anyway. A star that stops at a slash
   * makes only those nodes before it redundant that cannot consume a slash either.
   */
  #buildWhole(nodes: readonly GlobNode[]): number {
    let next = this.#end;
    let stars: number[] = [];
    for (const node of nodes.toReversed()) {
      if (node.kind === "one" ? node.accepts("/") : node.kind !== "star") {
        for (const star of stars) this.#covers.set(star, this.#states.length - 1);
        stars = [];
      }
      next = this.#build([node], next);
      if (node.kind === "star") stars.push(next);
      if (node.kind === "rest") this.#covers.set(next, Number.POSITIVE_INFINITY);
    }
    for (const star of stars) this.#covers.set(star, this.#states.length - 1);
    return next;
  }

  /** The state from which the nodes lead to `end`. */
  #build(nodes: readonly GlobNode[], end: number): number {
    let next = end;
    for (const node of nodes.toReversed()) {
      if (node.kind === "choice") {
        const after = next;
        next = this.#add({ next: node.arms.map((arm) => this.#build(arm, after)) });
      } else if (node.kind === "one") next = this.#add({ accepts: node.accepts, next: [next] });
      else if (node.kind === "star") next = this.#loop(oneOfName.accepts, next);
      else if (node.kind === "rest") next = this.#loop(anyOne.accepts, next);
      else next = this.#folders(next);
    }
    return next;
  }

  #loop(accepts: Test, next: number): number {
    const back: number[] = [next];
    const again = this.#add({ next: back });
    back.push(this.#add({ accepts, next: [again] }));
    return again;
  }

  #folders(next: number): number {
    const back: number[] = [next];
    const again = this.#add({ next: back });
    const slash = this.#add({ accepts: isSlash, next: [again] });
    back.push(this.#loop(oneOfName.accepts, slash));
    return again;
  }
}
