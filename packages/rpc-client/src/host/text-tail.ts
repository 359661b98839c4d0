/** The last part of a text that may grow without bound. */
export class TextTail {
  readonly #maxCharacters: number;
  #pieces: string[] = [];
  #length = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  append(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    // Truncating only at twice the limit makes the cost per character constant.
    if (this.#length > 2 * this.#maxCharacters) this.#cut();
  }

  toString(): string {
    this.#cut();
    return this.#pieces[0] ?? "";
  }

  #cut(): void {
    const kept = this.#pieces.join("").slice(-this.#maxCharacters);
    this.#pieces = [kept];
    this.#length = kept.length;
  }
}
