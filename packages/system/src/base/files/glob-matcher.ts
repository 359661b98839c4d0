import {
  classTest,
  type GlobNode,
  type Matcher,
  matcherOf,
  one,
  oneOfName,
  slashAndRest,
} from "./glob-engine.ts";

export interface GlobNotation {
  /** Whether `{a,b}` means either `a` or `b`. Default true; .gitignore has no braces. */
  readonly hasBraces?: boolean;
  /** Whether `a/**` also matches `a`. Default true; false for .gitignore. */
  readonly restMayBeEmpty?: boolean;
}

const maxDepth = 32;
/** The longest path of the system; a longer pattern matches nothing. */
const maxLength = 4096;

/**
 * Matches whole posix paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` between slashes; `\` escapes the next character.
 */
export function globMatcher(
  pattern: string,
  { hasBraces = true, restMayBeEmpty = true }: GlobNotation = {},
): Matcher {
  if (pattern.length > maxLength) return () => false;
  return matcherOf(new GlobReader(pattern, { hasBraces, restMayBeEmpty }).read());
}

class GlobReader {
  readonly #characters: readonly string[];
  /** Positions of the braces and commas that belong to a choice. */
  readonly #marks: ReadonlySet<number>;
  readonly #restMayBeEmpty: boolean;
  #at = 0;

  constructor(pattern: string, { hasBraces, restMayBeEmpty }: Required<GlobNotation>) {
    this.#characters = [...pattern];
    this.#restMayBeEmpty = restMayBeEmpty;
    this.#marks = hasBraces ? choiceMarks(this.#characters) : new Set();
  }

  read(): GlobNode[] {
    return this.#sequence();
  }

  /** Reads up to the end, or to the next comma or closing brace of a choice. */
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
    } else if (character === "?") nodes.push(oneOfName);
    else nodes.push(one(character));
  }

  /** Between slashes, `**` matches any number of folders. */
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
      const slash = nodes.splice(-1);
      nodes.push(...slashAndRest(slash, this.#restMayBeEmpty));
    } else nodes.push({ kind: "rest" });
  }

  /** A class or a choice; an opening bracket that starts neither is an ordinary character. */
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

/** Positions of braces that are closed and contain a comma; all others are ordinary characters. */
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
