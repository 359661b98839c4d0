/** Above this many characters, which only images reach, memory matters more than time. */
const mostKept = 8 * 1024 * 1024;

interface Sent {
  /** The whole request in one string: sending flattens it, and the next request takes a substring. */
  readonly text: string;
  /** Where its list begins. */
  readonly start: number;
  readonly items: readonly unknown[];
  /** The end of each item, counted from the beginning of the list. */
  readonly ends: readonly number[];
}

const nothing: Sent = { text: "", start: 0, items: [], ends: [] };

/**
 * The JSON of requests that each repeat the previous request's list and extend it. Items at the start of the
 * list that have not changed are not serialized again, so that a long conversation costs little more than a
 * short one (row `read-turn-growth`). Items in the list must never change.
 */
export class GrowingJson {
  /**
   * The last request, as a weak reference: it is as large as the conversation, and most sessions are idle
   * (rows `many-sessions`).
   */
  #last: WeakRef<Sent> | undefined;

  /** The same text as `JSON.stringify(request)`; `list` names the member that grows. */
  of(request: object, list: string): string {
    const members = Object.entries(request);
    const at = members.findIndex(([name, value]) => name === list && Array.isArray(value));
    if (at === -1) return JSON.stringify(request);
    const head = [...membersJson(members.slice(0, at)), `${JSON.stringify(list)}:[`].join(",");
    const tail = ["]", ...membersJson(members.slice(at + 1))].join(",");
    return this.#write(`{${head}`, Object(request)[list], `${tail}}`);
  }

  #write(head: string, items: readonly unknown[], tail: string): string {
    const last = this.#last?.deref() ?? nothing;
    const known = countKnown(last, items);
    const ends = last.ends.slice(0, known);
    let text = head + last.text.slice(last.start, last.start + (ends.at(-1) ?? 0));
    for (const [index, item] of items.slice(known).entries()) {
      text += itemText(item, known + index);
      ends.push(text.length - head.length);
    }
    text += tail;
    const isKept = text.length <= mostKept;
    const sent = { text, start: head.length, items: [...items], ends };
    this.#last = isKept ? new WeakRef(sent) : undefined;
    return text;
  }
}

/**
 * How many items are the same as at the start of the last list; the system prompt is compared by content,
 * because its object is new each time.
 */
function countKnown(last: Sent, items: readonly unknown[]): number {
  const isKnown = (item: unknown, at: number): boolean =>
    item === last.items[at] || itemText(item, at) === textOf(last, at);
  const both = items.slice(0, last.items.length);
  const firstNew = both.findIndex((item, at) => !isKnown(item, at));
  return firstNew === -1 ? both.length : firstNew;
}

function textOf({ text, start, ends }: Sent, at: number): string {
  return text.slice(start + (ends[at - 1] ?? 0), start + (ends[at] ?? 0));
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
