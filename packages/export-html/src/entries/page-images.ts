/** Shorter ones are not worth a reference. */
const minLength = 1000;

/**
 * The images of a page by their data. The session that the page holds for download refers to them, or
 * every image would be in the page twice.
 */
export class PageImages {
  readonly #numbers = new Map<string, number>();
  #added: string[] = [];
  #count = 0;

  /** The number of an image that the page shows as it is in the session; undefined if it has one, or is small. */
  add(data: string): number | undefined {
    if (data.length < minLength || this.#numbers.has(data)) return undefined;
    this.#added.push(data);
    this.#numbers.set(data, this.#count);
    return this.#count++;
  }

  numberOf(data: string): number | undefined {
    return this.#numbers.get(data);
  }

  /** The images added so far are on the page. */
  keep(): void {
    this.#added = [];
  }

  /** The images added since {@link keep} did not get onto the page. */
  drop(): void {
    for (const data of this.#added) this.#numbers.delete(data);
    this.#added = [];
  }
}
