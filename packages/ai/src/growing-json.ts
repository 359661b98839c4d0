/** Beyond this many characters, which images reach and texts do not, memory counts for more than time. */
const mostKept = 8 * 1024 * 1024;

/**
 * The JSON of a list that each request repeats and adds to. What it begins with is not put into words
 * again, so that a long conversation costs little more than a short one. Items in the list never change.
 */
export class GrowingJson {
  #items: readonly unknown[] = [];
  /** The JSON of all items, a comma after each. */
  #text = "";
  /** Where each item and its comma end in the text. */
  #ends: readonly number[] = [];

  /** The JSON of `items`, as `JSON.stringify` writes it. */
  of(items: readonly unknown[]): string {
    const known = this.#countKnown(items);
    const ends = this.#ends.slice(0, known);
    let text = this.#text.slice(0, ends.at(-1) ?? 0);
    for (const item of items.slice(known)) {
      text += itemText(item);
      ends.push(text.length);
    }
    const isKept = text.length <= mostKept;
    this.#items = isKept ? [...items] : [];
    this.#text = isKept ? text : "";
    this.#ends = isKept ? ends : [];
    return `[${text.slice(0, -1)}]`;
  }

  /** How many items of the last list these begin with; the system prompt is the same in a new object. */
  #countKnown(items: readonly unknown[]): number {
    const isKnown = (item: unknown, at: number): boolean => {
      if (item === this.#items[at]) return true;
      return itemText(item) === this.#text.slice(this.#ends[at - 1] ?? 0, this.#ends[at]);
    };
    const both = items.slice(0, this.#items.length);
    const firstNew = both.findIndex((item, at) => !isKnown(item, at));
    return firstNew === -1 ? both.length : firstNew;
  }
}

/** `request` as JSON; `list` names the member that grows. */
export function requestJson(request: object, list: string, known: GrowingJson): string {
  let text = "";
  for (const [name, value] of Object.entries(request)) {
    const json = name === list && Array.isArray(value) ? known.of(value) : JSON.stringify(value);
    if (json === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${json}`;
  }
  return `{${text}}`;
}

function itemText(item: unknown): string {
  return `${JSON.stringify(item) ?? "null"},`;
}
