/** Shorter data does not justify a reference. */
const minLength = 1000;

/**
 * The images of a page by their data. The session for download in the page refers to them; otherwise
 * every image would be in the page twice.
 */
export class PageImages {
  readonly #numbers = new Map<string, number>();
  #added: string[] = [];
  #count = 0;

  /** The number of an image, which the page shows unchanged; undefined if it is already known, or is small. */
  add(data: string): number | undefined {
    if (data.length < minLength || this.#numbers.has(data)) return undefined;
    this.#added.push(data);
    this.#numbers.set(data, this.#count);
    return this.#count++;
  }

  numberOf(data: string): number | undefined {
    return this.#numbers.get(data);
  }

  /** Marks the images added so far as being on the page. */
  keep(): void {
    this.#added = [];
  }

  /** Discards the images added since {@link keep}, because they are not on the page. */
  drop(): void {
    for (const data of this.#added) this.#numbers.delete(data);
    this.#added = [];
  }
}
