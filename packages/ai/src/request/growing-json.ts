/** Beyond this many characters, which images reach and texts do not, memory counts for more than time. */
const mostKept = 8 * 1024 * 1024;

/**
 * The JSON of requests of which each repeats a list of the one before and adds to it. Items that the
 * last request began with are not written again, so that a long conversation costs little more than a
 * short one (row `read-turn-growth`). Items in the list never change.
 */
export class GrowingJson {
  /** The last request, as a whole: sending makes one piece of it, of which the next one takes its part. */
  #text = "";
  /** Where its list begins. */
  #start = 0;
  #items: readonly unknown[] = [];
  /** Where each item ends, from the beginning of the list. */
  #ends: readonly number[] = [];

  /** `request` as `JSON.stringify` writes it; `list` names the member that grows. */
  of(request: object, list: string): string {
    const members = Object.entries(request);
    const at = members.findIndex(([name, value]) => name === list && Array.isArray(value));
    if (at === -1) return JSON.stringify(request);
    const head = [...membersJson(members.slice(0, at)), `${JSON.stringify(list)}:[`].join(",");
    const tail = ["]", ...membersJson(members.slice(at + 1))].join(",");
    return this.#write(`{${head}`, Object(request)[list], `${tail}}`);
  }

  #write(head: string, items: readonly unknown[], tail: string): string {
    const known = this.#countKnown(items);
    const ends = this.#ends.slice(0, known);
    let text = head + this.#text.slice(this.#start, this.#start + (ends.at(-1) ?? 0));
    for (const [index, item] of items.slice(known).entries()) {
      text += itemText(item, known + index);
      ends.push(text.length - head.length);
    }
    text += tail;
    const isKept = text.length <= mostKept;
    this.#text = isKept ? text : "";
    this.#start = head.length;
    this.#items = isKept ? [...items] : [];
    this.#ends = isKept ? ends : [];
    return text;
  }

  /** How many items of the last list these begin with; the system prompt is the same in a new object. */
  #countKnown(items: readonly unknown[]): number {
    const isKnown = (item: unknown, at: number): boolean =>
      item === this.#items[at] || itemText(item, at) === this.#textOf(at);
    const both = items.slice(0, this.#items.length);
    const firstNew = both.findIndex((item, at) => !isKnown(item, at));
    return firstNew === -1 ? both.length : firstNew;
  }

  #textOf(at: number): string {
    const end = this.#ends[at] ?? 0;
    return this.#text.slice(this.#start + (this.#ends[at - 1] ?? 0), this.#start + end);
  }
}

/** An item with the comma before it. */
function itemText(item: unknown, at: number): string {
  const json = JSON.stringify(item) ?? "null";
  return at === 0 ? json : `,${json}`;
}

function membersJson(members: readonly (readonly [string, unknown])[]): string[] {
  return members.flatMap(([name, value]) => {
    const json = JSON.stringify(value);
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
}
