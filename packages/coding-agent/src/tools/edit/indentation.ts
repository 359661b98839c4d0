/** The spaces and tabs at the start of a line. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** Maps indentations of the model's text to those of the file. */
export class IndentMap {
  readonly #known = new Map<string, string>();
  readonly #taken = new Map<string, string>();
  #isConsistent = true;

  /** Notes a line of the model's text and the corresponding line of the file. */
  note(given: string, actual: string): void {
    const known = this.#known.get(given);
    const taken = this.#taken.get(actual);
    if ((known ?? actual) !== actual || (taken ?? given) !== given) this.#isConsistent = false;
    this.#known.set(given, actual);
    this.#taken.set(actual, given);
  }

  /** Whether lines of equal depth in one text also have equal depth in the other, so that blocks stay blocks. */
  get isConsistent(): boolean {
    return this.#isConsistent;
  }

  /** The file's indentation for one of the model's text, including depths that do not occur in the match. */
  translate(given: string): string {
    const exact = this.#known.get(given);
    if (exact !== undefined) return exact;
    const keys = [...this.#known.keys()].sort((left, right) => right.length - left.length);
    const shallower = keys.find((key) => given.startsWith(key));
    if (shallower !== undefined) {
      return (this.#known.get(shallower) ?? "") + this.#convert(given.slice(shallower.length));
    }
    const deeper = keys.findLast((key) => key.startsWith(given));
    if (deeper === undefined) return given;
    const actual = this.#known.get(deeper) ?? "";
    const less = this.#convert(deeper.slice(given.length));
    return actual.endsWith(less) ? actual.slice(0, actual.length - less.length) : given;
  }

  /** The indentation of one further level in both texts, from the two closest known depths. */
  #step(): { readonly given: string; readonly actual: string } | undefined {
    const depths = [...(this.#known.has("") ? [] : [["", ""] as const]), ...this.#known].sort(
      ([left], [right]) => left.length - right.length,
    );
    const steps = depths.flatMap(([given, actual], index) => {
      const [outerGiven, outerActual] = depths[index - 1] ?? [given, actual];
      const isDeeper =
        given.startsWith(outerGiven) &&
        actual.startsWith(outerActual) &&
        given.length > outerGiven.length &&
        actual.length > outerActual.length;
      return isDeeper
        ? [{ given: given.slice(outerGiven.length), actual: actual.slice(outerActual.length) }]
        : [];
    });
    return steps.sort((left, right) => left.given.length - right.given.length)[0];
  }

  #convert(blanks: string): string {
    const step = this.#step() ?? this.#guessedStep(blanks);
    if (step === undefined) return blanks;
    const count = Math.floor(blanks.length / step.given.length);
    const isWhole = blanks.startsWith(step.given.repeat(count));
    if (!isWhole) return blanks;
    return step.actual.repeat(count) + blanks.slice(count * step.given.length);
  }

  /** Assumes one tab per level if the file uses tabs, even if the match shows only one depth. */
  #guessedStep(blanks: string): { readonly given: string; readonly actual: string } | undefined {
    const isTabbed = [...this.#known.values()].some((actual) => actual.includes("\t"));
    if (!isTabbed || !/^ +$/.test(blanks)) return undefined;
    return { given: blanks.length % 4 === 0 ? "    " : "  ", actual: "\t" };
  }
}
